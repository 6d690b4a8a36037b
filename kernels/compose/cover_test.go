package compose

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// legal and fusable are the results of All and AllFused, computed once. Tests do not change them.
var (
	legal   = sync.OnceValue(All)
	fusable = sync.OnceValue(func() []*Plan { return fusedOf(legal()) })
)

// choices lists a plan's choice on each axis.
func choices(p *Plan) []string {
	return []string{
		p.Algorithm.Name, p.Schedule.Name, p.Layout.Name + " " + string(p.Sizes.BlockBy), p.Direction.Name, p.Set.Name,
		p.Dedup.Name, p.Order.Name,
		string(p.Scan), string(p.Skip), fmt.Sprint(p.Settled), string(p.Sum), fmt.Sprint(p.Ahead), p.Coefficient.Name,
		fmt.Sprint(p.Fused),
	}
}

// pair is two choices on different axes.
type pair [2]int

// numbered gives each plan's choices numbers, of which each choice of an axis has its own.
func numbered(plans []*Plan) [][]int {
	ids := make([]map[string]int, len(choices(plans[0])))
	n, all := 0, make([][]int, len(plans))
	for i, p := range plans {
		for axis, choice := range choices(p) {
			if ids[axis] == nil {
				ids[axis] = map[string]int{}
			}
			if _, ok := ids[axis][choice]; !ok {
				ids[axis][choice] = n
				n++
			}
			all[i] = append(all[i], ids[axis][choice])
		}
	}
	return all
}

// pairs lists the pairs of each plan's choices.
func pairs(plans []*Plan) [][]pair {
	all := make([][]pair, len(plans))
	for i, of := range numbered(plans) {
		for axis, choice := range of {
			for _, other := range of[:axis] {
				all[i] = append(all[i], pair{other, choice})
			}
		}
	}
	return all
}

// singles lists each plan's choices, as pairs with themselves.
func singles(plans []*Plan) [][]pair {
	all := make([][]pair, len(plans))
	for i, of := range numbered(plans) {
		for _, choice := range of {
			all[i] = append(all[i], pair{choice, choice})
		}
	}
	return all
}

// cover picks few of the plans, always the same, that have all pairs; all lists those of each plan.
func cover(plans []*Plan, all [][]pair) (picked []*Plan) {
	order := rand.New(rand.NewPCG(1, 2)).Perm(len(plans))
	met := map[pair]bool{}
	for least := 32; least > 0; least /= 2 { // first those that bring many pairs
		for _, i := range order {
			n := 0
			for _, x := range all[i] {
				if !met[x] {
					n++
				}
			}
			if n < least {
				continue
			}
			for _, x := range all[i] {
				met[x] = true
			}
			picked = append(picked, plans[i])
		}
	}
	return picked
}

// covering are plans in which all meet that can: not fused, and fused.
var (
	covering      = sync.OnceValue(func() []*Plan { return cover(legal(), pairs(legal())) })
	coveringFused = sync.OnceValue(func() []*Plan { return cover(fusable(), pairs(fusable())) })
)

// thinned is every nth of some plans, and some in which each of their choices occurs: for tests that take long and do
// not depend on which choices meet, since others run all pairs.
func thinned(all func() []*Plan, nth int) func() []*Plan {
	return func() []*Plan {
		plans := all()
		picked := cover(plans, singles(plans))
		for i := 0; i < len(plans); i += nth {
			if !slices.Contains(picked, plans[i]) {
				picked = append(picked, plans[i])
			}
		}
		return picked
	}
}

// TestCovering: few plans are picked, and they have every pair that occurs in any plan.
func TestCovering(t *testing.T) {
	for _, of := range []struct{ plans, picked []*Plan }{{legal(), covering()}, {fusable(), coveringFused()}} {
		names, there, met := map[string]bool{}, map[pair]bool{}, map[pair]bool{}
		for i, list := range pairs(of.plans) {
			names[strings.Join(choices(of.plans[i]), "/")] = true
			for _, x := range list {
				there[x] = true
			}
		}
		require.Len(t, names, len(of.plans), "choices leaves an axis out")
		place := map[*Plan]int{}
		for i, p := range of.plans {
			place[p] = i
		}
		all := pairs(of.plans)
		for _, p := range of.picked {
			for _, x := range all[place[p]] {
				met[x] = true
			}
		}
		require.Equal(t, there, met)
		require.Less(t, len(of.picked), len(of.plans)/20)
		t.Logf("%d of %d, for %d pairs", len(of.picked), len(of.plans), len(there))
	}
}

// TestThinned: each choice is left, however few plans are.
func TestThinned(t *testing.T) {
	plans := covering()
	all, left := map[string]bool{}, map[string]bool{}
	picked := thinned(covering, len(plans))()
	for _, of := range []struct {
		plans []*Plan
		names map[string]bool
	}{{plans, all}, {picked, left}} {
		for _, p := range of.plans {
			for axis, choice := range choices(p) {
				of.names[fmt.Sprint(axis, " ", choice)] = true
			}
		}
	}
	require.Equal(t, all, left)
	require.Less(t, len(picked), len(plans)/5)
	t.Logf("%d of %d plans", len(picked), len(plans))
}
