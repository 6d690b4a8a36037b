package feature

// HostSum computes Sum on the host, in the same order.
func (p *Plan) HostSum(x []float32) float32 { return p.hostSum(x) }
