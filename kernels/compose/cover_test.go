package compose

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// legal and fusable are the results of All and AllFused, computed once. Tests do not change them.
var (
	legal   = sync.OnceValue(All)
	fusable = sync.OnceValue(AllFused)
)

// choices says what a plan chooses on each axis.
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

// pairs lists the pairs of each plan's choices.
func pairs(plans []*Plan) [][]pair {
	ids := map[string]int{}
	id := func(axis int, choice string) int {
		name := fmt.Sprint(axis, " ", choice)
		if _, ok := ids[name]; !ok {
			ids[name] = len(ids)
		}
		return ids[name]
	}
	all := make([][]pair, len(plans))
	for i, p := range plans {
		var of []int
		for axis, choice := range choices(p) {
			of = append(of, id(axis, choice))
			for _, other := range of[:axis] {
				all[i] = append(all[i], pair{other, of[axis]})
			}
		}
	}
	return all
}

// cover picks few of the plans in which any two choices meet that meet in any of them; always the same.
func cover(plans []*Plan) (picked []*Plan) {
	all := pairs(plans)
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
	covering      = sync.OnceValue(func() []*Plan { return cover(legal()) })
	coveringFused = sync.OnceValue(func() []*Plan { return cover(fusable()) })
)

// TestCovering: what is picked is little, and has every pair that there is.
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
