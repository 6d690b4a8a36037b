package graph

import "math/bits"

// rng is splitmix64 (Steele et al., OOPSLA 2014). It is ours, and draws
// integers only, so that a seed gives the same graph on every machine and with
// every version of Go.
type rng uint64

// newRNG returns a generator whose sequence is independent for each purpose.
func newRNG(seed uint64, purpose string) rng {
	h := mix(seed)
	for _, c := range []byte(purpose) {
		h = mix(h ^ uint64(c))
	}
	return rng(h)
}

func (r *rng) next() uint64 {
	*r += golden
	return finish(uint64(*r))
}

const golden = 0x9E3779B97F4A7C15

func mix(x uint64) uint64 { return finish(x + golden) }

func finish(z uint64) uint64 {
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// below draws from 0..n-1 without bias (Lemire, ACM TOMACS 2019).
func (r *rng) below(n uint64) uint64 {
	hi, lo := bits.Mul64(r.next(), n)
	if lo < n {
		for least := -n % n; lo < least; {
			hi, lo = bits.Mul64(r.next(), n)
		}
	}
	return hi
}

// chance is a probability of p in 2^32 parts.
type chance uint64

func newChance(p float64) chance { return chance(p * (1 << 32)) }

// atLeast returns 1 if c is not below d, else 0.
func (c chance) atLeast(d chance) uint32 { return 1 - uint32(uint64(c-d)>>63) }

func (r *rng) happens(c chance) bool { return r.next()>>32 < uint64(c) }

// permutation is Fisher and Yates's.
func (r *rng) permutation(n int) []uint32 {
	p := identity(n)
	for i := n - 1; i > 0; i-- {
		j := r.below(uint64(i) + 1)
		p[i], p[j] = p[j], p[i]
	}
	return p
}
