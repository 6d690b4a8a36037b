package isa

// useVectors turns the loops with vector instructions on or off until the function that it returns is called.
func useVectors(on bool) (back func()) {
	before := vectors
	vectors = on
	return func() { vectors = before }
}
