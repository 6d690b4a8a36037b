package compose

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/experiment/config"
	"heddle/kernels/activeset"
	"heddle/kernels/algorithm"
	"heddle/kernels/direction"
	"heddle/kernels/emit"
	"heddle/kernels/feature"
	"heddle/kernels/host"
	"heddle/kernels/ir"
	"heddle/kernels/layout"
	"heddle/kernels/schedule"
	"heddle/kernels/workload"
)

// TestConfigurationNamesAllChoices: all entries of a registry can be configured, and nothing else.
func TestConfigurationNamesAllChoices(t *testing.T) {
	names := map[string][]string{}
	for _, x := range algorithm.Algorithms() {
		names["algorithm"] = append(names["algorithm"], x.Name)
	}
	for _, x := range feature.Algorithms() {
		names["algorithm"] = append(names["algorithm"], x.Name)
	}
	for _, x := range schedule.All() {
		names["schedule"] = append(names["schedule"], x.Name)
	}
	for _, x := range schedule.Scans() {
		names["scan"] = append(names["scan"], string(x))
	}
	for _, x := range schedule.Skips() {
		names["skip"] = append(names["skip"], string(x))
	}
	for _, x := range direction.Rules() {
		names["hybrid_rule"] = append(names["hybrid_rule"], string(x))
	}
	for _, x := range emit.Summings() {
		names["sum"] = append(names["sum"], string(x))
	}
	for _, x := range layout.Bys() {
		names["block_by"] = append(names["block_by"], string(x))
	}
	for _, x := range algorithm.Coefficients() {
		names["coefficient"] = append(names["coefficient"], x.Name)
	}
	for _, x := range Unrollings() {
		names["unroll"] = append(names["unroll"], string(x))
	}
	for _, x := range Spills() {
		names["spill"] = append(names["spill"], string(x))
	}
	names["recipe"] = []string{string(NoRecipe)}
	for _, x := range recipes {
		names["recipe"] = append(names["recipe"], x.Name)
	}
	names["layout"], names["direction"], names["active_set"], names["dedup"] = []string{"auto"}, []string{"auto"},
		[]string{"auto"}, []string{"auto"}
	for _, x := range layout.Layouts() {
		names["layout"] = append(names["layout"], x.Name)
	}
	for _, x := range direction.Policies() {
		names["direction"] = append(names["direction"], x.Name)
	}
	for _, x := range activeset.Choices() {
		names["active_set"] = append(names["active_set"], x.Name)
	}
	for _, x := range activeset.Dedups() {
		names["dedup"] = append(names["dedup"], x.Name)
	}
	for _, x := range activeset.Orders() {
		names["order"] = append(names["order"], x.Name)
	}
	names["fusion"] = []string{"none", string(LoopFusion)}
	for key, want := range names {
		f, ok := config.Schema.Lookup("workload." + key)
		require.True(t, ok, key)
		require.ElementsMatch(t, want, f.Values(), key)
	}
}

// allRules are those that hold without fusion, those about unused keys among them.
func allRules() []rule {
	all := slices.Clone(rules)
	for _, u := range unused {
		all = append(all, u.rule)
	}
	return all
}

// TestLegal: the combinations that run, and one example of each rule's.
func TestLegal(t *testing.T) {
	var all, count int
	rules := allRules()
	broken := make([]int, len(rules))
	each(func(p *Plan) {
		all++
		ok, facts := true, p.facts()
		for i, r := range rules {
			if r.broken(facts) {
				broken[i]++
				ok = false
			}
		}
		if ok != (p.breaks() == nil) {
			require.Fail(t, "legal or not: "+p.Name())
		}
		if ok {
			count++
		}
	})
	t.Logf("%d of %d combinations are legal", count, all)
	require.Len(t, legal(), count)
	refused := make([]int, len(unfused))
	for _, p := range legal() {
		own := *p
		own.Fused = true
		for i, r := range unfused {
			if r.broken(own.facts()) {
				refused[i]++
				if own.breaks() == nil {
					require.Fail(t, "refused, and legal: "+own.Name())
				}
			}
		}
	}
	require.NotContains(t, refused, 0, "a rule about fused runs that refuses nothing")
	require.NotContains(t, broken, 0, "a rule that refuses nothing")
	names := map[string]bool{}
	for _, p := range legal() {
		if names[p.Name()] {
			require.Fail(t, "twice: "+p.Name())
		}
		names[p.Name()] = true
	}
}

// TestRulesAreNeeded: without a rule something would be built that is not legal now.
func TestRulesAreNeeded(t *testing.T) {
	rules := allRules()
	alone := make([]bool, len(rules))
	each(func(p *Plan) {
		by, n, facts := 0, 0, p.facts()
		for i, r := range rules {
			if r.broken(facts) {
				by, n = i, n+1
			}
		}
		if n == 1 {
			alone[by] = true
		}
	})
	for i, r := range rules {
		require.True(t, alone[i], "rule %d never refuses alone: %s", i, r.why)
	}
}

// TestRulesOfAddedLayouts: what is legal under csr, a layout with gaps may refuse, and so may operators of programs
// under a layout with arrays of its own.
func TestRulesOfAddedLayouts(t *testing.T) {
	for _, c := range []struct {
		change func(p *Plan)
		why    string
	}{
		{func(p *Plan) {
			own := *p.Layout
			own.Gaps = true
			p.Layout = &own
		}, "the layout leaves some out"},
		{func(p *Plan) {
			own := *p.Algorithm
			own.Body = func(*emit.Kernel, *layout.Edge, func(ir.Value)) {}
			p.Algorithm = &own
		}, "the edge function does more than add one"},
	} {
		refused, allowed := 0, 0
		for _, p := range legal() {
			q := *p
			c.change(&q)
			switch err := q.legal(); {
			case err == nil:
				allowed++
			case strings.Contains(err.Error(), c.why):
				refused++
			}
		}
		require.Positive(t, refused, c.why)
		require.Positive(t, allowed, c.why)
	}
}

func choose(set ...string) workload.Workload {
	w := workload.Workload{
		Algorithm: "bfs", Schedule: "vertex", Layout: workload.Auto, Direction: workload.Auto, ActiveSet: workload.Auto,
		Dedup: workload.Auto, Order: "none", Scan: "shuffle", Skip: "early", Sum: "register", Ahead: true,
		Coefficient: "hardware", HybridRule: "beamer",
	}
	for _, s := range set {
		key, value, _ := strings.Cut(s, "=")
		switch key {
		case "algorithm":
			w.Algorithm = workload.Algorithm(value)
		case "schedule":
			w.Schedule = workload.Schedule(value)
		case "layout":
			w.Layout = workload.Layout(value)
		case "direction":
			w.Direction = workload.Choice(value)
		case "set":
			w.ActiveSet = workload.Choice(value)
		case "dedup":
			w.Dedup = workload.Choice(value)
		case "order":
			w.Order = workload.Choice(value)
		case "scan":
			w.Scan = workload.Choice(value)
		case "skip":
			w.Skip = workload.Choice(value)
		case "hybrid_rule":
			w.HybridRule = workload.Choice(value)
		case "settled":
			w.Settled = value == "true"
		case "sum":
			w.Sum = workload.Choice(value)
		case "ahead":
			w.Ahead = value == "true"
		case "coefficient":
			w.Coefficient = workload.Choice(value)
		case "fusion":
			w.Fusion = workload.Choice(value)
		case "buckets":
			w.Buckets, _ = strconv.Atoi(value)
		case "warps_per_core":
			w.WarpsPerCore, _ = strconv.Atoi(value)
		case "virtual_degree":
			w.VirtualDegree, _ = strconv.Atoi(value)
		case "shard_vertices":
			w.ShardVertices, _ = strconv.Atoi(value)
		case "block_by":
			w.BlockBy = workload.Choice(value)
		case "block_equal":
			w.BlockEqual = workload.Choice(value)
		case "block_vertices":
			w.BlockVertices, _ = strconv.Atoi(value)
		case "cta_threads":
			w.CTAThreads, _ = strconv.Atoi(value)
		}
	}
	return w
}

func TestAuto(t *testing.T) {
	for _, c := range []struct {
		set  []string
		want string
	}{
		{nil, "bfs/vertex/csr/push/queue+none"},
		{[]string{"algorithm=pagerank"}, "pagerank/vertex/csc/pull/counter"},
		{[]string{"algorithm=pagerank", "schedule=edge"}, "pagerank/edge/coo/pull/counter"},
		{[]string{"algorithm=pagerank-delta"}, "pagerank-delta/vertex/csr/push/queue+none"},
		{[]string{"algorithm=sssp", "schedule=cta"}, "sssp/cta/csr/push/queue+monotonic/shuffle"},
		{[]string{"algorithm=sssp", "schedule=strict", "order=near-far"}, "sssp/strict/csr/push/queue+monotonic+near-far/shuffle"},
		{[]string{"algorithm=sssp", "order=buckets", "schedule=hwwl"}, "sssp/hwwl/csr/push/list+monotonic+buckets"},
		{[]string{"algorithm=sssp", "order=buckets", "set=qnb-bytemap"}, "sssp/vertex/csr/push/qnb-bytemap+buckets"},
		{[]string{"algorithm=sssp", "order=buckets", "buckets=2"}, "sssp/vertex/csr/push/queue+monotonic+buckets-2"},
		{[]string{"direction=hybrid", "set=rqnb-bitmap"}, "bfs/vertex/csr-csc/hybrid/rqnb-bitmap"},
		{[]string{"algorithm=triangles"}, "triangles/vertex/csr/push/counter"},
		{[]string{"algorithm=triangles", "schedule=edge"}, "triangles/edge/coo/push/counter"},
		{[]string{"algorithm=cc", "schedule=edge"}, "cc/edge/coo/push/bytemap"},
		{[]string{"direction=pull", "schedule=weaver"}, "bfs/weaver/csc/pull/bytemap"},
		{[]string{"direction=hybrid"}, "bfs/vertex/csr-csc/hybrid/bytemap"},
		{[]string{"direction=hybrid", "hybrid_rule=sep-graph"}, "bfs/vertex/csr-csc/hybrid/bytemap/rule-sep-graph"},
		{[]string{"algorithm=cc-soman"}, "cc-soman/vertex/csr/push/counter"},
		{[]string{"schedule=peg"}, "bfs/peg/csr/push/list+none"},
		{[]string{"schedule=peg", "algorithm=sssp", "order=near-far"}, "sssp/peg/csr/push/list+monotonic+near-far"},
		{[]string{"schedule=hwwl", "algorithm=sssp", "order=near-far"}, "sssp/hwwl/csr/push/queue+monotonic+near-far"},
		{[]string{"schedule=peg", "direction=hybrid"}, "bfs/peg/csr-csc/hybrid/bytemap"},
		{[]string{"schedule=hwwl", "algorithm=pagerank"}, "pagerank/hwwl/csc/pull/counter"},
		{[]string{"algorithm=colouring"}, "colouring/vertex/csr/push/queue+none"},
		{[]string{"algorithm=bc", "direction=pull"}, "bc/vertex/csr-csc/pull/bytemap"},
		{[]string{"algorithm=bc", "schedule=peg"}, "bc/peg/csr/push/list+none"},
		{[]string{"algorithm=cc", "dedup=bitmap"}, "cc/vertex/csr/push/queue+bitmap"},
	} {
		p, err := NewPlan(choose(c.set...))
		require.NoError(t, err)
		require.Equal(t, c.want, p.Name())
	}
}

// TestAutoIsLegal: whatever else is chosen alone, the rest can be auto.
func TestAutoIsLegal(t *testing.T) {
	for _, a := range algorithm.Algorithms() {
		for _, s := range schedule.All() {
			for _, d := range []string{"auto", "push", "pull"} {
				if a.PushOnly && d == "pull" || s.Shards && !sumsByShards(a) {
					continue
				}
				_, err := NewPlan(choose("algorithm="+a.Name, "schedule="+s.Name, "direction="+d))
				require.NoError(t, err)
			}
		}
	}
}

// sumsByShards reports whether an algorithm can sum up in the scratchpad.
func sumsByShards(a *algorithm.Algorithm) bool {
	return a.Hook == nil && !a.Sum.Always && !a.ToSource && a.Vector == "" && a.Back == nil
}

func TestRefused(t *testing.T) {
	for _, c := range []struct{ set, says string }{
		{"layout=csc", "the layout has only the others"},
		{"algorithm=pagerank set=queue", "frontier counter"},
		{"algorithm=bfs-parents set=counter", "a counter is not enough"},
		{"schedule=edge set=queue", "which a queue cannot answer"},
		{"direction=pull set=queue", "whether its source is active"},
		{"direction=hybrid set=counter", "hybrid decides by"},
		{"layout=csr-csc", "needs one of csr and csc"},
		{"set=bitmap dedup=bitmap", "only a queue"},
		{"order=near-far", "only distances"},
		{"algorithm=sssp order=near-far set=bitmap", "keep vertices that wait in queues"},
		{"algorithm=sssp order=buckets set=bytemap", "keep vertices that wait in queues"},
		{"algorithm=sssp order=buckets direction=hybrid set=qnb-bitmap", "keep vertices that wait in queues"},
		{"order=buckets", "only distances"},
		{"schedule=edge set=qnb-bitmap", "walks edges rather than a list"},
		{"direction=pull set=qnb-bytemap", "frontier rqnb, bitmap or bytemap"},
		{"set=rqnb-bitmap", "rqnb lists destinations: frontier qnb"},
		{"algorithm=cc direction=pull set=rqnb-bitmap", "no filter determines which destinations can still change"},
		{"algorithm=sssp direction=pull set=rqnb-bitmap", "no filter determines which destinations can still change"},
		{"set=qnb-bitmap dedup=bitmap", "only a queue"},
		{"set=qnb-bitmap fusion=loop", "fusion: the host reads how long the list is"},
		{"algorithm=sssp order=buckets fusion=loop", "fusion: the host looks for the next bucket that is not empty"},
		{"buckets=2", "workload.order.buckets = 2: there are none with order none: expected 8, the default"},
		{"algorithm=sssp order=near-far buckets=9", "workload.order.buckets = 9: there are none with order near-far"},
		{"scan=scratchpad", "scans nothing"},
		{"skip=filtered direction=pull", "nothing is skipped"},
		{"skip=filtered schedule=weaver", "nothing is skipped"},
		{"skip=filtered schedule=weaver direction=pull algorithm=cc", "nothing is skipped"},
		{"settled=true direction=pull", "no bound determines which destinations are settled"},
		{"settled=true algorithm=sssp", "no bound determines which destinations are settled"},
		{"settled=true algorithm=sssp direction=pull set=counter", "which a counter does not have"},
		{"skip=filtered schedule=weaver direction=pull algorithm=sssp", "nothing is skipped"},
		{"sum=memory", "every sum is an atomic"},
		{"sum=atomic schedule=edge direction=pull", "every sum is an atomic"},
		{"sum=memory schedule=hwwl algorithm=spmm", "every sum is an atomic"},
		{"ahead=false schedule=cta", "no thread walks a row alone"},
		{"coefficient=software algorithm=spmm", "has no coefficient"},
		{"algorithm=k-core direction=pull", "has no pull"},
		{"algorithm=colouring direction=pull", "has no pull"},
		{"algorithm=bc direction=pull layout=csc", "the layout has only the others"},
		{"algorithm=bc order=near-far", "only distances"},
		{"cta_threads=256 schedule=strict", "workload.schedule.cta_threads = 256: nothing is shared by thread blocks under schedule strict"},
		{"hybrid_rule=sep-graph", "workload.direction.rule = sep-graph: nothing is decided with direction push"},
		{"set=list", "only graph units walk their lists"},
		{"algorithm=sssp order=near-far schedule=hwwl set=list", "a hardware worklist has two"},
		{"layout=virtual schedule=edge", "virtual vertices split rows, and the schedule walks the edges"},
		{"layout=virtual-coalesced schedule=warp", "layout virtual, or slot_order rows"},
		{"layout=virtual schedule=hwwl set=list", "the layout's rows belong to virtual vertices"},
		{"layout=virtual schedule=eghw", "the layout has arrays of its own"},
		{"layout=virtual algorithm=sssp dedup=bytemap", "dedup bitmap or monotonic"},
		{"layout=virtual direction=pull sum=memory", "every sum is an atomic"},
		{"virtual_degree=4", "workload.layout.virtual_degree = 4: has no effect on layout csr: expected 8, the default; others are for virtual, virtual-coalesced"},
		{"layout=virtual block_vertices=4", "workload.layout.block_vertices = 4: has no effect on layout virtual: expected 16384, the default; others are for block-coo"},
		{"layout=gshard algorithm=cc-soman", "selects the destination only then"},
		{"layout=gshard algorithm=sssp set=counter", "which may have changed since"},
		{"schedule=shard layout=csr", "a thread block takes a shard: layout gshard or gshard-windows"},
		{"layout=gshard-windows set=bitmap", "only a thread block that has a shard writes its windows"},
		{"schedule=shard algorithm=k-core", "looks at each contribution"},
		{"schedule=shard algorithm=bc", "looks at each contribution"},
		{"schedule=shard algorithm=triangles", "contributions go to sources"},
		{"schedule=shard algorithm=spmm", "sums up vectors"},
		{"schedule=shard algorithm=cc-soman", "selects the destination only then"},
		{"schedule=shard set=queue", "which a queue cannot answer"},
		{"schedule=shard scan=scratchpad", "scans nothing"},
		{"layout=gshard", "in no order of blocks"},
		{"layout=block-coo set=queue", "in no order of blocks"},
		{"layout=gshard set=bitmap direction=pull", "the layout has only the others"},
		{"layout=block-coo set=bitmap block_by=source", "the layout has only the others"},
		{"shard_vertices=7", "workload.layout.shard_vertices = 7: has no effect on layout csr: expected 4096, the default; others are for gshard, gshard-windows"},
		{"block_by=both", "workload.layout.block_by = both: has no effect on layout csr: expected destination, the default; others are for block-coo"},
		{"schedule=twcs", `no schedule "twcs"`},
	} {
		_, err := NewPlan(choose(strings.Fields(c.set)...))
		require.ErrorContains(t, err, c.says, c.set)
	}
}

func TestMachinesThatCannot(t *testing.T) {
	s := host.Shape{Cores: 1, Warps: 32, Threads: 32, ScratchpadBytes: 16 << 10}
	runs := func(set string) error {
		p, err := NewPlan(choose(strings.Fields(set)...))
		require.NoError(t, err)
		return p.Runs(s)
	}
	require.ErrorContains(t, runs("schedule=weaver"), "a Weaver")
	require.ErrorContains(t, runs("schedule=peg"), "a GraphPEG")
	require.ErrorContains(t, runs("schedule=hwwl"), "a hardware worklist")
	s.Unit = "weaver"
	require.NoError(t, runs("schedule=weaver"))
	require.NoError(t, runs("schedule=cta"))
	s.ScratchpadBytes = 12 << 10
	require.ErrorContains(t, runs("schedule=cta"),
		fmt.Sprint(4*(3*1024+32), " bytes of scratchpad a core, and there are 12288"))
	require.NoError(t, runs("schedule=cta warps_per_core=16"))
	require.NoError(t, runs("schedule=cta warps_per_core=16 cta_threads=256"))
	require.ErrorContains(t, runs("warps_per_core=33"), "workload.schedule.warps_per_core = 33: expected 1 to 32")
	for _, threads := range []string{"33", "96", "768"} {
		require.ErrorContains(t, runs("schedule=cta warps_per_core=16 cta_threads="+threads),
			"a multiple of 32 threads, a warp, that divides the 512 threads")
	}
	require.NoError(t, runs("schedule=warp"))
	require.NoError(t, runs("schedule=warp scan=scratchpad"))
}

// TestBarriersThatSignal: where device-wide barriers do not order memory accesses, several cores run no kernel that
// loads, behind a barrier, words that other cores have stored. The test finds these kernels by their code.
func TestBarriersThatSignal(t *testing.T) {
	one := host.Shape{Cores: 1, Warps: 4, Threads: 8, ScratchpadBytes: 16 << 10, BarriersSignal: true}
	several, flushing := one, one
	several.Cores, flushing.Cores, flushing.BarriersSignal = 2, 2, false
	for _, s := range schedule.Software() {
		for _, fusion := range []string{"none", "loop"} {
			p, err := NewPlan(choose("schedule="+s.Name, "fusion="+fusion))
			if err != nil { // it cannot be fused
				continue
			}
			ks, err := p.Build(coreOf(one))
			require.NoError(t, err)
			crosses := p.Fused
			for _, k := range ks.All() {
				k.Body.Walk(func(i *ir.Instr) { crosses = crosses || i.Op == ir.OpDeviceBarrier })
			}
			require.NoError(t, p.Runs(one), s.Name)
			require.NoError(t, p.Runs(flushing), s.Name)
			if err = p.Runs(several); !crosses {
				require.NoError(t, err, s.Name)
				continue
			}
			var key *KeyError
			require.ErrorAs(t, err, &key, s.Name)
			require.Equal(t, "machine.core.device_barrier", key.Key)
		}
	}
}
