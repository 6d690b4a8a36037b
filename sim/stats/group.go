package stats

import "math"

// Group is parts whose counts a unit of size follow a line through the logarithms of their sizes, as the launches of a
// kernel do.
type Group struct {
	Knots []Knot // by size
	// Pace is the standard deviation of their cycles about that line, relative to them, as far as it is known beforehand.
	Pace float64
}

// Knot is parts of about the same size.
type Knot struct {
	Points [][]int // parts that are alike in other respects, too
	Size   float64 // logarithm
}

// paceWeight is the number of parts that what is known beforehand counts as much as.
const paceWeight = 4

// halfByGroup returns half the 95 % confidence interval of sum, as far as it is due to y a unit of size. A group's
// error is common to all that its parts stand for: there are few parts.
func (p *Parts) halfByGroup(y, size []float64) float64 {
	squares := 0.0
	for i := range p.Groups {
		g := &p.Groups[i]
		stands, seen := 0.0, 0.0
		for _, k := range g.Knots {
			for _, parts := range k.Points {
				for _, j := range parts {
					stands, seen = stands+p.Weights[j]*y[j], seen+math.Abs(y[j])
				}
			}
		}
		if seen > 0 {
			squares += stands * stands * (g.scatter(y, size) + 1/seen)
		}
	}
	return Student95(paceWeight) * math.Sqrt(squares)
}

// scatter returns the variance of y a unit of size, relative to it: of parts about their point's mean, and of knots'
// middle points about the line through their neighbours', one between two having 1.5 times the variance of one.
func (g *Group) scatter(y, size []float64) float64 {
	sum, n := paceWeight*g.Pace*g.Pace, float64(paceWeight)
	rates := make([]float64, len(g.Knots))
	for i := range g.Knots {
		points := g.Knots[i].Points
		for at, parts := range points {
			mean := 0.0
			for _, j := range parts {
				mean += y[j] / max(size[j], 1)
			}
			mean /= float64(len(parts))
			for _, j := range parts {
				sum += square(apart(y[j]/max(size[j], 1), mean))
			}
			if n += float64(len(parts) - 1); at == len(points)/2 {
				rates[i] = mean
			}
		}
	}
	for i := 1; i+1 < len(rates); i++ {
		a, b := &g.Knots[i-1], &g.Knots[i+1]
		at := (g.Knots[i].Size - a.Size) / (b.Size - a.Size)
		sum += square(apart(rates[i], (1-at)*rates[i-1]+at*rates[i+1])) / 1.5
		n++
	}
	return sum / n
}

// apart returns how far apart two numbers are, relative to the larger one.
func apart(a, b float64) float64 {
	if a == b {
		return 0
	}
	return (a - b) / max(math.Abs(a), math.Abs(b))
}

func square(x float64) float64 { return x * x }
