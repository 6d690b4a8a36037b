package ctrlproc

// PolicyNone balances nothing; PolicyIdeal balances in every cycle in zero time.
const (
	PolicyNone  = "none"
	PolicyIdeal = "ideal"
)

// Spec holds the parameters of the control processor.
type Spec struct {
	Policy         string `key:"policy" default:"ef" oneof:"none,ef,vl,ef+vl,ideal"`
	Interval       int    `key:"interval" default:"512" min:"1" max:"1000000" unit:"cycles" doc:"Between the starts of two polls. Ours: GraphPEG prints none (its 512, §3.3.2, is a threshold)."`
	ThresholdShift int    `key:"threshold_shift" default:"4" min:"0" max:"31" unit:"bits" doc:"N: cores are balanced when Rmax - Rmin >= Rmax >> N. GraphPEG §4.3: 4; also 2."`
	Threshold      int    `key:"threshold" default:"0" min:"0" max:"1000000000" unit:"edges" doc:"Instead: when Rmax - Rmin is at least that. 0: threshold_shift. GraphPEG §3.3.2: 512, before §4.3 settles on the shift."`
	Group          int    `key:"group" default:"1" min:"1" max:"1024" unit:"cores"`
	Model          Model  `key:"model" default:"go" oneof:"go,rtl"`
	Latency        int    `key:"latency" default:"12" min:"0" max:"10000" unit:"cycles"`
	Network        string `key:"network" default:"own" oneof:"own,shared"`
}

// NetworkShared lets messages take turns with memory requests.
const NetworkShared = "shared"

// Docs has the long descriptions of keys.
func (Spec) Docs() map[string]string {
	return map[string]string{
		"policy": "What is balanced between cores. none: nothing. ef: the edge frontiers, by moving a piece of " +
			"the largest table entry (GraphPEG §3.3.2). vl: the output lists, by moving vertices from " +
			"the end of the longest to the end of the shortest, through memory (§4.3). ef+vl: both. " +
			"ideal: as ef, with its threshold, but in every cycle and at no cost (§4.3: \"no load-balancing " +
			"overhead and the load-balance status is checked every cycle\").",
		"group": "Cores of a group (GraphPEG §3.3.2: a GPC). With more than one, each group has a balancer of " +
			"its own, which reads its cores while the others read theirs and lets the most loaded donate " +
			"to the least; and a core of the most loaded group donates to one of the least loaded, by " +
			"the groups' sums. The paper has a unit a GPC that serves its cores; here each core keeps " +
			"its own, and how a group balances is ours. 1: no groups.",
		"model": "What simulates the control processor, in the same cycles. go: heddle's model. rtl: the SystemVerilog of " +
			"rtl/ctrlproc by Verilator (ours); needs verilator, g++ and make, and another policy than ideal.",
		"latency": "Of the on-chip network, each way between control processor and a core. 0: as long as the " +
			"way between L1s and L2, reports as its requests and commands as its responses (to_l2). " +
			"GraphPEG §4.1 models it and prints no number: 12 is ours.",
		"network": "What a message meets on its way. own: the way is its own. shared: it takes a cycle of a port of " +
			"its core's concentrator, in turn with the requests of L1s and graph units, and on the way back with their answers; " +
			"of the latency, concentrator.request or .response are before the port. Needs machine.concentrator. " +
			"GraphPEG §4.1: control messages go over the network between SMs and L2.",
	}
}

// Balances reports which kinds of work the policy balances by polling.
func (s *Spec) Balances() (edgeFrontiers, outputLists bool) {
	moves := policies[s.Policy]
	return moves[edges], moves[vertices]
}

// GroupOf returns the cores per group in a machine of that many.
func (s *Spec) GroupOf(cores int) int { return min(max(1, s.Group), cores) }

// DefaultSpec returns the configuration of the paper.
func DefaultSpec() Spec {
	return Spec{Policy: "ef", Interval: 512, ThresholdShift: 4, Group: 1, Latency: 12, Model: ModelGo,
		Network: "own"}
}
