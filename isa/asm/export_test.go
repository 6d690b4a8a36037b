package asm

// LowerLimits makes bombs go off early, until the function that it returns is called.
func LowerLimits() func() {
	usual := most
	most = limits{image: 1 << 20, expanded: 10_000, text: 1 << 20}
	return func() { most = usual }
}
