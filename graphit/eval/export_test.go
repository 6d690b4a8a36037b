package eval

// SetMaxRounds has loops go round less often, so that tests need not wait. What it returns puts the limit back.
func SetMaxRounds(n int) func() {
	was := maxRounds
	maxRounds = n
	return func() { maxRounds = was }
}
