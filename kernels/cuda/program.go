package cuda

import (
	"embed"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"heddle/graph"
	"heddle/kernels/compose"
	"heddle/kernels/host"
	"heddle/kernels/ir"
)

//go:embed files
var files embed.FS

// Names of the exported files.
const (
	ProgramFile = "program.cu"
	GraphFile   = "graph.hgr"  // that the program reads by default
	ArraysFile  = "arrays.bin" // arrays and numbers that the program does not compute from the graph; often none
)

// Library are the files that every program includes, and its Makefile.
var Library = []string{"heddle.h", "cuda_on_host.h", "Makefile"}

// LibraryFile returns the contents of one of the Library.
func LibraryFile(name string) []byte {
	data, err := files.ReadFile("files/" + name)
	if err != nil {
		panic("BUG: cuda: " + err.Error())
	}
	return data
}

// Program is an exported program.
type Program struct {
	Text   []byte // program.cu
	Arrays []byte // arrays.bin; nil: the program runs on any graph
}

// mostThreads is the largest number of threads of a CUDA block.
const mostThreads = 1024

// New writes the program of a run that is laid out for a machine's shape. expected is a verified
// functional run, with whose result the program compares its own where it has no reference; nil: it does not compare.
func New(o *compose.Outline, s host.Shape, expected *compose.Result) (*Program, error) {
	if s.Threads != Lanes {
		return nil, fmt.Errorf("machine.core.threads = %d: CUDA's warps have %d lanes, for which schedules are written: "+
			"give machine.core.threads: %d", s.Threads, Lanes, Lanes)
	}
	warps := s.Warps
	if o.Plan.Warps > 0 {
		warps = o.Plan.Warps
	}
	if warps*Lanes > mostThreads {
		return nil, fmt.Errorf("machine.core.warps = %d: a core is a CUDA block, of at most %d threads: give at most %d, "+
			"or fewer in workload.schedule.warps_per_core", warps, mostThreads, mostThreads/Lanes)
	}
	if err := refused(o); err != nil {
		return nil, err
	}
	w := &writer{Outline: o, shape: s, threads: warps * Lanes, extra: map[string][]uint32{}, expected: expected,
		native: natives[o.Plan.Algorithm.Name]}
	if err := w.program(); err != nil {
		return nil, err
	}
	return &Program{w.b.Bytes(), w.arrays()}, nil
}

// refused returns an error for plans whose host does more between super-steps than an exported program's.
func refused(o *compose.Outline) error {
	p := o.Plan
	for _, no := range []struct {
		is  bool
		why string
	}{
		{
			o.Workload.Iterations > 0 && !p.Algorithm.Dense && !slices.Contains([]string{"bfs", "bfs-parents"},
				p.Algorithm.Name), "workload.max_iterations stops it where the program cannot check what it has come to: give 0",
		},
	} {
		if no.is {
			return errors.New(p.Name() + " is not exported as CUDA: " + no.why)
		}
	}
	return nil
}

// writer writes a program.
type writer struct {
	*compose.Outline
	Text
	shape    host.Shape
	threads  int    // of a block
	declared int    // where main declares everything that precedes the arrays
	prefix   string // of the names of extra: an operator's
	reversed bool   // the graph is the program's with its edges reversed
	native   *native
	extra    map[string][]uint32 // for arrays.bin
	expected *compose.Result
}

// arrays returns the file of extra arrays; nil: there are none.
func (w *writer) arrays() []byte { return ArraysOf(w.Graph, w.extra) }

// ArraysOf returns a file of arrays that belong to a graph; nil: there are none.
func ArraysOf(g *graph.Graph, extra map[string][]uint32) []byte {
	if len(extra) == 0 {
		return nil
	}
	data := binary.LittleEndian.AppendUint32([]byte("HEDDLE-1"), uint32(g.Vertices()))
	data = binary.LittleEndian.AppendUint32(data, uint32(g.Edges()))
	data = binary.LittleEndian.AppendUint32(data, uint32(len(extra)))
	names := make([]string, 0, len(extra))
	for name := range extra {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		data = binary.LittleEndian.AppendUint32(data, uint32(len(name)))
		data = append(data, name...)
		data = binary.LittleEndian.AppendUint32(data, uint32(len(extra[name])))
		for _, word := range extra[name] {
			data = binary.LittleEndian.AppendUint32(data, word)
		}
	}
	return data
}

// program writes the whole text.
func (w *writer) program() error {
	w.head()
	var loop func(array string) bool
	if w.Plan.Fused {
		loop = w.changes
	}
	for _, k := range w.Kernels.All() {
		text, err := kernel(k, loop)
		if err != nil {
			return err
		}
		w.line("// %s", kernelComment(k.Name))
		w.b.WriteString(text + "\n")
	}
	if w.Plan.Fused {
		w.loopKernel()
	}
	w.line("int main(int argc, char** argv)\n{")
	w.depth = 1
	w.mainArrays()
	if w.Plan.Fused {
		w.mainLoopArrays()
	}
	w.mainReset()
	if w.Plan.Fused {
		w.mainLoop()
	} else {
		w.mainRun()
	}
	w.expect()
	w.mainMeasure()
	w.line("}")
	w.insertExtra(w.declared)
	return nil
}

// kernelComment describes the purpose of a kernel.
func kernelComment(name string) string {
	kind, way, _ := strings.Cut(name, "-")
	ends := map[string]string{"push": "active vertices walk the edges that leave them",
		"pull": "vertices walk the edges that enter them"}[way]
	switch kind {
	case compose.KernelInit:
		return "Sets the vertices' first values."
	case compose.KernelGather:
		return "Handles the edges of a super-step: " + ends + "."
	case compose.KernelApply:
		return "Ends a super-step for every vertex."
	case compose.KernelRegister:
		return "Prepares the vertices that walk their edges, for the schedule."
	case compose.KernelCompact:
		return "Lists the vertices that walk their edges."
	case compose.KernelTopology:
		return "Prepares the layout for a gather."
	case compose.KernelSplit:
		return "Moves waiting vertices below the new threshold to the frontier."
	case compose.KernelSeed:
		return "Begins a round: activates its first vertices."
	}
	return name
}

func (w *writer) head() {
	p, wl := w.Plan, &w.Workload
	w.line("// %s", p.Name())
	w.line("//")
	w.line("// Algorithm %s: %s.", p.Algorithm.Name, p.Algorithm.Doc)
	w.line("// Schedule %s: %s.", p.Schedule.Name, p.Schedule.Doc)
	w.line("// Layout %s: %s. Direction %s. Frontier %s: %s.", p.Layout.Name, p.Layout.Doc, p.Direction.Name, p.Set.Name,
		p.Set.Doc)
	w.line("//")
	w.line("// Written by heddle kernel export --cuda. A core of the simulated machine is a thread block, of %d warps of "+
		"32.", w.threads/Lanes)
	w.line("// make builds it with nvcc for the GPU of this machine, make host with g++ alone; ./program --help.")
	w.line("#include \"heddle.h\"")
	w.line("")
	w.line("constexpr unsigned THREADS = %d; // of a block", w.threads)
	w.line("constexpr unsigned CORES = %d;   // of the machine: blocks on the host", w.shape.Cores)
	w.line("constexpr uint32_t SOURCE = %d;", w.Source)
	w.line("constexpr uint32_t MAX_STEPS = %d; // 0: until no vertex is active", w.MaxSteps)
	switch p.Algorithm.Name {
	case "pagerank":
		w.line("constexpr double DAMPING = %v;", wl.Damping)
	case "spmv":
		w.line("constexpr uint64_t SEED = %du;", wl.Seed)
	}
	if p.Residual {
		w.line("constexpr double TOLERANCE = %v;", wl.Tolerance)
	}
	w.line("")
}

// mainArrays writes the beginning of main: the graph, and every array.
func (w *writer) mainArrays() {
	w.line("const heddle::Options options = heddle::parse(argc, argv);")
	w.line("const heddle::Graph graph(options.graph);")
	w.line("const uint32_t vertices = graph.vertices, edges = graph.edges;")
	w.line("(void)edges;")
	w.line("const uint32_t source = options.source >= 0 ? uint32_t(options.source) : SOURCE;")
	if w.weighs() {
		w.line("if (graph.kind != %d) heddle::fail(options.graph + \": expected a graph with weights of the kind: %s\");",
			w.Graph.WeightKind(), w.Graph.WeightKind())
	}
	w.line("if (source >= vertices) heddle::fail(\"--source: expected a vertex below \" + std::to_string(vertices));")
	w.line("heddle::Device device(options, CORES, THREADS);")
	if w.Plan.Layout.Strided {
		w.line("device.behind += std::max(vertices, edges); // a thread reads its next edge ahead, a step away")
	}
	cooperative := w.Plan.Fused
	if w.Plan.Fused {
		w.line("device.admit(loop, %d);", w.sharedBytes())
	}
	for _, k := range w.Kernels.All() {
		if !w.Plan.Fused {
			w.line("device.admit(%s, %d);", identifier(k.Name), k.SharedBytes())
		}
		cooperative = cooperative || isCooperative(k)
	}
	w.line("device.settle(%v);", cooperative)
	w.declared = w.b.Len()
	w.line("")
	w.line("// Arrays that do not change.")
	for _, a := range w.constants() {
		w.line("const heddle::Array %s = device.place(%s);", identifier(a.Name), w.contents(a))
	}
	w.line("// Arrays that the kernels fill.")
	for _, a := range w.filled() {
		w.line("const heddle::Array %s = device.reserve(%s);", identifier(a.Name), w.length(a))
	}
	if len(w.Frontier)+len(w.pileRoles()) > 0 {
		w.line("// The frontier: after a super-step, arrays of several roles pass them on.")
	}
	for _, r := range append(slices.Clone(w.Frontier), w.pileRoles()...) {
		for _, role := range r.Roles {
			words := w.room(role, r.Words)
			if w.Plan.Fused && words == "1" {
				words = "3"
			}
			w.line("heddle::Array %s = device.reserve(%s);", identifier(role), words)
		}
	}
}

// insertExtra declares the file of arrays if the program needs any, which is known only at the end.
func (w *writer) insertExtra(at int) {
	if len(w.extra) == 0 {
		return
	}
	w.depth = 1
	rest := append([]byte(nil), w.b.Bytes()[at:]...)
	w.b.Truncate(at)
	w.line("const heddle::Extra extra(options.extra, graph);")
	w.b.Write(rest)
}

func isCooperative(k *ir.Kernel) (yes bool) {
	k.Body.Walk(func(i *ir.Instr) { yes = yes || i.Op == ir.OpDeviceBarrier })
	return yes
}

// weighs reports whether a program depends on the kind of the weights.
func (w *writer) weighs() bool { return w.Plan.Algorithm.Weighted || w.Plan.Algorithm.Name == "spmv" }

// role returns whether kernels read or write an array, and whether any writes it.
func (w *writer) role(name string) (used, written bool) {
	for _, k := range w.Kernels.All() {
		for _, x := range Parameters(k) {
			if x.Name == name {
				used, written = true, written || strings.HasSuffix(x.Type, "*")
			}
		}
	}
	return used, written
}

// constants lists the arrays with contents that no kernel changes, and filled the others.
func (w *writer) constants() (list []compose.OutlineArray) {
	for _, a := range w.Arrays {
		if used, written := w.role(a.Name); used && !written {
			list = append(list, a)
		}
	}
	return list
}

func (w *writer) filled() (list []compose.OutlineArray) {
	for _, a := range w.Arrays {
		if _, written := w.role(a.Name); written {
			list = append(list, a)
		}
	}
	return list
}

// contents returns the expression of an array's contents.
func (w *writer) contents(a compose.OutlineArray) string {
	if a.From == compose.OfGraph {
		order, part, _ := strings.Cut(a.Name, ".")
		rows := choose((order == "csr") != w.reversed, "graph.out", "graph.in()")
		if part == "rows" {
			return "graph.row_of_each(" + rows + ")"
		}
		return rows + "." + part
	}
	if w.native != nil && w.native.arrays[a.Name] != "" {
		return w.native.arrays[a.Name]
	}
	data := a.Data
	if data == nil { // a kernel of another direction fills it
		data = make([]uint32, a.Words)
	}
	w.extra[w.prefix+a.Name] = data
	return fmt.Sprintf("extra.array(%q)", w.prefix+a.Name)
}

// length returns the expression of an array's length.
func (w *writer) length(a compose.OutlineArray) string {
	n := w.Graph.Vertices()
	switch {
	case a.Name == "residual" && w.Plan.Fused:
		return "3"
	case a.From == compose.OfSchedule:
		return w.scheduleLength(a)
	case a.Words == 1:
		return "1"
	case a.From == compose.OfAlgorithm && a.Words == n:
		return "vertices"
	case a.From == compose.OfAlgorithm && a.Words%n == 0:
		return fmt.Sprintf("size_t(vertices) * %d", a.Words/n)
	case a.Words == w.Graph.Edges():
		return "edges"
	}
	return w.extraNumber(a.Name+".length", uint32(a.Words))
}

// extraNumber adds a number to the file of arrays, and returns its expression.
func (w *writer) extraNumber(name string, n uint32) string {
	w.extra[w.prefix+name] = []uint32{n}
	return fmt.Sprintf("extra.number(%q)", w.prefix+name)
}

// scheduleLength returns the length of a schedule's array: by entries of a walk over the active set, and by warps.
func (w *writer) scheduleLength(a compose.OutlineArray) string {
	own := w.Plan.Schedule.Array(a.Name)
	fixed := own.Words(0, 0)
	each := own.Words(1, 0) - fixed
	var terms []string
	if each > 0 {
		room := "vertices"
		switch {
		case w.Plan.Layout.Virtual != nil:
			room = w.extraNumber("room", uint32(w.Room()))
		case (w.Plan.Set.Lists || w.Plan.Set.Outputs) && w.Room() != w.Graph.Vertices():
			room = "(size_t(vertices) + edges)"
		}
		terms = append(terms, times(room, each))
	}
	if a.PerWarp > 0 {
		terms = append(terms, times("device.warps()", a.PerWarp))
	}
	if fixed > 0 {
		terms = append(terms, fmt.Sprint(fixed))
	}
	return strings.Join(terms, " + ")
}

func times(what string, n int) string {
	if n == 1 {
		return what
	}
	return fmt.Sprintf("%d * %s", n, what)
}

// room returns the length of an array of the frontier.
func (w *writer) room(role string, words int) string {
	n := w.Graph.Vertices()
	inBits := func(name string) string {
		return choose(strings.Contains(name, "bitmap"), "(vertices + 31) / 32", "(vertices + 3) / 4")
	}
	switch {
	case strings.HasSuffix(role, ".map") && !strings.HasPrefix(role, "dedup"):
		return inBits(w.Plan.Set.Name)
	case role == "dedup.map" || role == "dedup.spare":
		return inBits(w.Plan.Dedup.Name)
	case role == "bucket.queues":
		return fmt.Sprintf("size_t(vertices) * %d", words/n)
	case role == "stack", role == "bucket.entered":
		return "vertices"
	case role == "next.outputs":
		if w.Plan.Dedup.Exact() {
			return "std::max(vertices, edges)"
		}
		return fmt.Sprintf("size_t(vertices) + %d * size_t(edges)", (words-n)/max(1, w.Graph.Edges()))
	case role == "active.queue" && w.Plan.Set.Queue && !w.Plan.Set.Outputs, role == "dedup.step",
		strings.HasPrefix(role, "far.") && words == n:
		return "vertices"
	case role == "active.queue" || role == "next.queue":
		return choose(w.Plan.Dedup.Exact(), "vertices", "size_t(vertices) + edges")
	case words == 1:
		return "1"
	}
	return fmt.Sprint(words)
}

// pileRoles returns the arrays of waiting vertices.
func (w *writer) pileRoles() (list []compose.Rotation) {
	if w.Waits() == nil {
		return nil
	}
	for _, a := range w.Waits().Arrays() {
		if len(list) == 0 || !slices.Contains(list[len(list)-1].Roles, a.Roles[0]) {
			list = append(list, compose.Rotation{Roles: a.Roles, Words: a.Words})
		}
	}
	return list
}

// number returns the expression of a scalar parameter.
func (w *writer) number(p ir.Param) string {
	switch p.Name {
	case "vertices", "edges", "source", "step", "round", "bound", "depth":
		return p.Name
	case "launch":
		return "launch"
	case "active.size", "outputs.size", "stack.first", "stack.size":
		return identifier(p.Name)
	case "far.size", "far.before", "far.threshold", "far.period", "bucket.delta", "bucket.first", "bucket.limit",
		"bucket.spill", "bucket.split":
		if w.Plan.Order.Buckets {
			_, member, _ := strings.Cut(p.Name, ".")
			return "buckets." + member + "()"
		}
		return identifier(p.Name)
	}
	if w.native != nil && w.native.numbers[p.Name] != "" {
		return w.native.numbers[p.Name]
	}
	if slices.Contains(w.LayoutNumbers(), p.Name) || p.Name == "target" {
		return w.extraNumber(p.Name, w.Numbers[p.Name])
	}
	bits := w.Numbers[p.Name]
	w.extra["numbers"] = nil // those of this graph are in the text
	if p.Type == ir.F32 {
		return constant(ir.F32, bits, true)
	}
	return fmt.Sprintf("%du", bits)
}

// floats returns the bits of float32 bounds of a result.
func floats(want, bound []float64) (least, greatest []uint32) {
	for i, x := range want {
		lo, hi := float32(x-bound[i]), float32(x+bound[i])
		if float64(lo) < x-bound[i] {
			lo = math.Nextafter32(lo, float32(math.Inf(1)))
		}
		if float64(hi) > x+bound[i] {
			hi = math.Nextafter32(hi, float32(math.Inf(-1)))
		}
		least, greatest = append(least, math.Float32bits(lo)), append(greatest, math.Float32bits(hi))
	}
	return least, greatest
}
