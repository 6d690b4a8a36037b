package eval

// SetMaxRounds lowers the limit on rounds of loops, so that tests need not wait. The returned function restores it.
func SetMaxRounds(n int) func() {
	was := maxRounds
	maxRounds = n
	return func() { maxRounds = was }
}
