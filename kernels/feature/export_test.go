package feature

// HostSum is what Sum computes, in its order.
func (p *Plan) HostSum(x []float32) float32 { return p.hostSum(x) }
