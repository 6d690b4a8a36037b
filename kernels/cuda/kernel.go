package cuda

import (
	"fmt"
	"slices"
	"strings"

	"heddle/isa"
	"heddle/kernels/ir"
)

// Lanes is the number of lanes of a warp, for which kernels must have been built.
const Lanes = 32

// unsupported is the error of a kernel that has no CUDA; it carries it out of the printer's recursion.
type unsupported struct{ error }

// Kernel returns a kernel as a CUDA function. It returns an error for kernels that use a graph unit.
func Kernel(k *ir.Kernel) (text string, err error) { return kernel(k, nil) }

// kernel is Kernel; with loop it is a function of the kernel that loops over super-steps, whose written arrays loop
// reports.
func kernel(k *ir.Kernel, loop func(array string) bool) (text string, err error) {
	defer func() {
		if r := recover(); r != nil {
			u, ok := r.(unsupported)
			if !ok {
				panic(r)
			}
			err = fmt.Errorf("kernel %s: %w", k.Name, u.error)
		}
	}()
	p := &printer{facts: newFacts(k), known: map[int]expression{}, quarter: map[int]string{},
		folded: map[int]uint32{}, vars: map[int]string{}, taken: map[string]bool{}, changes: loop, mask: allLanes,
		labels: map[int]string{}}
	return p.print(), nil
}

// printer writes a kernel.
type printer struct {
	*facts
	b       strings.Builder
	depth   int
	known   map[int]expression      // by ID: values that have a text
	folded  map[int]uint32          // by ID: values computed from constants
	quarter map[int]string          // by ID: a quarter of a value that is a multiple of four
	vars    map[int]string          // names of variables, by ID
	taken   map[string]bool         // names
	changes func(array string) bool // of the loop that calls it as a function; nil: a kernel of its own
	phase   isa.Phase
	mask    string         // the lanes that are active here
	quiet   bool           // no lane reads what another stores here
	pending access         // accesses to the scratchpad that other lanes of the warp may not have seen
	labels  map[int]string // by ID of a loop that is left from within another: the label behind it
}

// allLanes is the mask of code that all lanes of a warp execute.
const allLanes = "ALL_LANES"

// access is a set of kinds of accesses to the scratchpad.
type access struct{ loads, stores bool }

func (p *printer) fail(i *ir.Instr, format string, args ...any) {
	err := fmt.Errorf(format, args...)
	if i != nil && i.Pos != "" {
		err = fmt.Errorf("%s: %w", i.Pos, err)
	}
	panic(unsupported{err})
}

func (p *printer) line(format string, args ...any) {
	text := format
	if len(args) > 0 {
		text = fmt.Sprintf(format, args...)
	}
	p.b.WriteString(strings.Repeat("    ", p.depth) + text + "\n")
}

// print writes the function.
func (p *printer) print() string {
	k := p.kernel
	for _, x := range k.Params {
		p.taken[identifier(x.Name)] = true
	}
	for _, s := range k.Shared {
		p.taken[sharedName(s)] = true
	}
	for _, id := range identities {
		p.taken[id.name] = true
	}
	kind := choose(p.changes == nil, "__global__ void __launch_bounds__(THREADS, MIN_BLOCKS)", "__device__ void")
	p.line("%s %s(%s)", kind, identifier(k.Name), p.parameters())
	p.line("{")
	p.depth++
	p.declareRoots()
	p.blockOf(k.Body)
	p.depth--
	p.line("}")
	return p.b.String()
}

// parameters returns the parameters' declarations.
func (p *printer) parameters() string {
	var list []string
	for _, x := range Parameters(p.kernel) {
		if p.changes != nil && p.changes(x.Name) { // loads must see what other blocks have stored before a barrier
			x.Type = strings.TrimSuffix(x.Type, " __restrict__")
		}
		list = append(list, x.Type+" "+identifier(x.Name))
	}
	return wrap(list, "        ", 100)
}

// wrap joins a list by commas, in lines of about width columns.
func wrap(list []string, indent string, width int) string {
	var b strings.Builder
	column := len("__global__ void __launch_bounds__(THREADS, MIN_BLOCKS) ")
	for n, s := range list {
		if n > 0 {
			b.WriteString(",")
			column++
			if column+len(s) > width {
				b.WriteString("\n" + indent)
				column = len(indent)
			} else {
				b.WriteString(" ")
				column++
			}
		}
		b.WriteString(s)
		column += len(s)
	}
	return b.String()
}

// Parameter is a parameter of a CUDA kernel.
type Parameter struct {
	ir.Param
	Type string // in C++
}

// Parameters returns the parameters that a kernel reads, in the order of the argument block. Arrays that it does not
// write are constant, so that loads of several edges can be under way together.
func Parameters(k *ir.Kernel) (list []Parameter) {
	p, used, types := findPointers(k), make([]bool, len(k.Params)), make([]string, len(k.Params))
	live := findLive(k)
	for n, x := range k.Params {
		types[n] = typeOf(x.Type)
	}
	for _, r := range k.Roots {
		if r.Op != ir.OpParam {
			continue
		}
		used[r.Imm] = live[r.ID]
		if k.Params[r.Imm].Aligned {
			g := p.group(r.ID)
			types[r.Imm] = choose(g.written, g.element()+"*", "const "+g.element()+"* __restrict__")
		}
	}
	for n, x := range k.Params {
		if used[n] {
			list = append(list, Parameter{x, types[n]})
		}
	}
	return list
}

// sharedName returns the name of an array in the scratchpad. Some have the name of one in memory.
func sharedName(s ir.Shared) string { return "shared_" + identifier(s.Name) }

// declareRoots declares the scratchpad's arrays and the numbers of the thread that the kernel uses.
func (p *printer) declareRoots() {
	if len(p.kernel.Shared) > 0 {
		p.line("SCRATCHPAD(scratchpad);")
	}
	for n, s := range p.kernel.Shared {
		at := "scratchpad"
		if s.Offset > 0 {
			at = fmt.Sprintf("scratchpad + %d", s.Offset/4)
		}
		p.line("uint32_t* const %s = %s; // %d words", sharedName(s), at, s.Words)
		for _, r := range p.kernel.Roots {
			if r.Op == ir.OpShared && int(r.Imm) == n && p.group(r.ID).element() != "uint32_t" {
				p.fail(r, "the scratchpad's array %s has words of type %s", s.Name, p.group(r.ID).element())
			}
		}
	}
	for _, r := range p.kernel.Roots {
		if id := identities[r.Op]; id.value != "" && len(p.uses[r.ID]) > 0 {
			p.line("const uint32_t %s = %s;", id.name, id.value)
		}
	}
}

// blockOf prints the instructions of a block.
func (p *printer) blockOf(b *ir.Block) {
	for _, i := range b.Instrs {
		if p.live[i.ID] {
			p.instr(i)
		}
	}
}

// comment introduces the phase of an instruction that is printed as a statement.
func (p *printer) comment(i *ir.Instr) {
	if i.Phase != p.phase {
		p.phase = i.Phase
		p.line("// %s", phaseComments[i.Phase])
	}
	if i.Note != "" {
		p.line("// %s", i.Note)
	}
	if i.Op == ir.OpVar && i.Var.Note != "" {
		p.line("// %s", i.Var.Note)
	}
}

// phaseComments describe the purpose of a phase's statements.
var phaseComments = [isa.NumPhases]string{
	isa.PhaseOther:        "Other.",
	isa.PhaseInit:         "Init: first values, and the frontier after the next cleared.",
	isa.PhaseRegistration: "Registration: active vertices, their rows, sums of degrees.",
	isa.PhaseSchedule:     "Schedule: which edge this thread handles.",
	isa.PhaseEdgeAccess:   "Edge: its ends and weight.",
	isa.PhaseGatherSum:    "Gather and sum: the edge's value, and the next frontier.",
	isa.PhaseApply:        "Apply: the end of the super-step for a vertex.",
}

// statement prints a statement with the comment of its phase.
func (p *printer) statement(i *ir.Instr, format string, args ...any) {
	p.comment(i)
	p.line(format, args...)
}

func (p *printer) instr(i *ir.Instr) {
	switch i.Op.Kind() {
	case ir.KindPure:
		p.value(i, p.pureUnlessUnused(i))
	case ir.KindVar:
		p.variable(i)
	case ir.KindLoad:
		if len(p.uses[i.ID]) > 0 {
			p.load(i)
		}
	case ir.KindWarp:
		p.across(i)
	case ir.KindControl:
		p.control(i)
	default:
		p.effect(i)
	}
}

func (p *printer) pureUnlessUnused(i *ir.Instr) expression {
	if len(p.uses[i.ID]) == 0 {
		return expression{}
	}
	if _, constant := p.fold(i); i.Op == ir.OpShl && !constant {
		if bits, ok := i.Args[1].IsConst(); ok && bits == 2 && p.onlyOffsets(i) {
			x := p.of(i.Args[0])
			if len(x.deps) > 0 || len(x.text) > longest/2 {
				x = p.bind(i, x, "offset", "uint32_t")
			}
			p.quarter[i.ID] = x.within(precProduct)
			return expression{text: x.within(precShift) + " << 2", prec: precShift, deps: x.deps}
		}
	}
	return p.pure(i)
}

// onlyOffsets reports whether a value is only added to addresses.
func (p *printer) onlyOffsets(i *ir.Instr) bool {
	return !slices.ContainsFunc(p.uses[i.ID], func(u *ir.Instr) bool { return u.Op != ir.OpAdd || !p.is[u.ID] })
}

// longest is the number of characters beyond which an expression becomes a constant of its own.
const longest = 72

// value gives a pure value its text: an expression, or the name of a constant.
func (p *printer) value(i *ir.Instr, e expression) {
	uses := p.uses[i.ID]
	if len(uses) == 0 {
		return
	}
	if p.quarter[i.ID] != "" || p.inlines(i, e) {
		p.known[i.ID] = e
		return
	}
	p.known[i.ID] = p.bind(i, e, p.nameOf(i), p.typeOfValue(i))
}

// inlines reports whether a pure value's expression takes its place wherever it is used.
func (p *printer) inlines(i *ir.Instr, e expression) bool {
	uses := p.uses[i.ID]
	for _, u := range uses {
		if !p.stable(e.deps, i, u) {
			return false
		}
	}
	if plain(e.text) {
		return true
	}
	deeper := len(p.loops[uses[0].ID]) > len(p.loops[i.ID]) || uses[0].Op == ir.OpFor
	return len(uses) == 1 && !deeper && len(e.text) <= longest
}

// plain reports whether a text is a name or a number.
func plain(text string) bool { return !strings.ContainsAny(text, " ([") }

// bind declares a constant with a value and returns its name.
func (p *printer) bind(i *ir.Instr, e expression, name, t string) expression {
	name = p.fresh(name)
	constness := "const " + t
	if strings.HasSuffix(t, "*") {
		constness = t + " const"
	}
	p.statement(i, "%s %s = %s;", constness, name, e.text)
	return expression{text: name, prec: precPrimary}
}

// typeOfValue returns the C++ type of a value: of addresses, a pointer.
func (p *printer) typeOfValue(i *ir.Instr) string { return p.typeAt(i.ID, i.Type) }

func (p *printer) typeAt(id int, t ir.Type) string {
	if !p.is[id] {
		return typeOf(t)
	}
	g := p.group(id)
	return choose(g.written, g.element()+"*", "const "+g.element()+"*")
}

// variable prints the declaration, the reading or the setting of a variable.
func (p *printer) variable(i *ir.Instr) {
	switch i.Op {
	case ir.OpVar:
		name := p.fresh(p.nameOfVar(i))
		p.vars[i.Var.ID] = name
		p.statement(i, "%s %s = %s;", p.typeAt(p.values+i.Var.ID, i.Var.Type), name, p.text(i.Args[0], precSelect))
	case ir.OpSet:
		p.set(i)
	case ir.OpGet:
		e := expression{text: p.vars[i.Var.ID], prec: precPrimary, deps: []int{i.Var.ID}}
		p.value(i, e)
	case ir.OpIndex: // named by the loop
	default:
		p.fail(i, "%s: CUDA has no such unit", i.Op)
	}
}

// set prints an assignment.
func (p *printer) set(i *ir.Instr) {
	name, x := p.vars[i.Var.ID], i.Args[0]
	o, ok := operators[x.Op]
	if ok && (o.prec == precSum || o.prec == precShift) && p.of(x).prec == o.prec && p.of(x.Args[0]).text == name &&
		strings.HasPrefix(p.of(x).text, name+" "+o.operator+" ") {
		y := p.text(x.Args[1], precSelect)
		if bits, isConst := p.constOf(x.Args[1]); isConst && !p.is[x.ID] {
			y = constant(x.Type, bits, false)
		} else if p.is[x.ID] {
			y = strings.TrimPrefix(p.of(x).text, name+" + ")
		}
		p.statement(i, "%s %s= %s;", name, o.operator, y)
		return
	}
	p.statement(i, "%s = %s;", name, p.text(x, precSelect))
}

// followed reports whether an instruction is the only use of the one before it.
func (p *printer) followed(i *ir.Instr) bool {
	list := p.liveOf(p.block[i.ID])
	at := slices.Index(list, i)
	return len(p.uses[i.ID]) == 1 && at+1 < len(list) && list[at+1] == p.uses[i.ID][0]
}

// load prints a load as an expression where its only use follows in the same block, else as a constant.
func (p *printer) load(i *ir.Instr) {
	shared := p.isShared(i.Args[0])
	if shared {
		p.meet(i, access{loads: true})
	}
	e := expression{text: p.element(i), prec: precPrimary, deps: []int{memory}}
	for _, a := range i.Args {
		if a != nil {
			e.deps = append(e.deps, p.of(a).deps...)
		}
	}
	if t := p.group(i.Args[0].ID).element(); i.Op == ir.OpLoad && t != typeOf(i.Type) {
		e.text = bits(map[string]ir.Type{"float": ir.F32, "int32_t": ir.I32, "uint32_t": ir.U32}[t], i.Type) + "(" + e.text +
			")"
	}
	uses := p.uses[i.ID]
	if u := uses[0]; len(uses) == 1 && p.block[u.ID] == p.block[i.ID] && u.Op != ir.OpFor &&
		len(e.text) <= longest && p.stable(e.deps, i, u) && (!shared || p.followed(i) && !u.Op.Memory()) {
		p.known[i.ID] = e
		return
	}
	p.known[i.ID] = p.bind(i, e, p.nameOf(i), typeOf(i.Type))
}

// across prints a vote or a shuffle, which the lanes of the mask execute together.
func (p *printer) across(i *ir.Instr) {
	if len(p.uses[i.ID]) == 0 {
		return
	}
	x := p.text(i.Args[0], precSelect)
	call := map[ir.Op]string{
		ir.OpBallot: "__ballot_sync", ir.OpAny: "__any_sync", ir.OpAll: "__all_sync", ir.OpShflIdx: "__shfl_sync",
		ir.OpShflUp: "__shfl_up_sync", ir.OpShflDown: "__shfl_down_sync", ir.OpShflXor: "__shfl_xor_sync",
	}[i.Op]
	e := expression{text: fmt.Sprintf("%s(%s, %s)", call, p.mask, x), prec: precPrimary}
	if len(i.Args) > 1 {
		lane := p.text(i.Args[1], precSelect)
		if bits, ok := p.constOf(i.Args[1]); ok {
			lane = constant(ir.I32, bits, false)
		}
		e.text = fmt.Sprintf("%s(%s, %s, %s)", call, p.mask, x, lane)
	}
	p.known[i.ID] = p.bind(i, e, p.nameOf(i), p.typeOfValue(i))
}

// effect prints an instruction that writes memory or waits.
func (p *printer) effect(i *ir.Instr) {
	switch i.Op {
	case ir.OpFence:
		p.statement(i, "__threadfence();")
	case ir.OpEdge:
		p.statement(i, "COUNT_EDGE();")
	case ir.OpBarrier:
		p.barrier(i)
	case ir.OpDeviceBarrier:
		p.statement(i, "grid_barrier();")
		p.pending = access{}
	case ir.OpStore, ir.OpStoreByte:
		p.store(i)
	default:
		if !i.Op.Atomic() {
			p.fail(i, "%s: CUDA has no such unit", i.Op)
		}
		p.atomic(i)
	}
}

// barrier prints a barrier of the thread block, which is the core or a part of it.
func (p *printer) barrier(i *ir.Instr) {
	p.pending = access{}
	k := p.kernel
	switch {
	case k.Block == 0 || k.Block == k.Warps:
		p.statement(i, "__syncthreads();")
	case k.Block == 1:
		p.statement(i, "__syncwarp(%s);", p.mask)
	case k.Warps/k.Block > mostBarriers:
		p.fail(i, "a core has %d thread blocks, and CUDA %d barriers for them: give larger blocks "+
			"(workload.schedule.cta_threads)",
			k.Warps/k.Block, mostBarriers)
	default:
		p.statement(i, "barrier_of_warps(threadIdx.x / %d + 1, %d);", Lanes*k.Block, Lanes*k.Block)
	}
}

// mostBarriers is the number of barriers for parts of a thread block: it has 16 (PTX ISA, bar.sync), and the one with
// number 0 is of all its threads.
const mostBarriers = 15

func (p *printer) store(i *ir.Instr) {
	if p.isShared(i.Args[0]) {
		p.meet(i, access{stores: true})
	}
	value := p.text(i.Args[2], precSelect)
	if t := p.group(i.Args[0].ID).element(); i.Op == ir.OpStore && t != typeOf(i.Args[2].Type) {
		value = bits(i.Args[2].Type, ir.U32) + "(" + value + ")"
	}
	p.statement(i, "%s = %s;", p.element(i), value)
}

// atomics are CUDA's names.
var atomics = map[ir.Op]string{
	ir.OpAtomicAdd: "atomicAdd", ir.OpAtomicMin: "atomicMin", ir.OpAtomicMax: "atomicMax", ir.OpAtomicAnd: "atomicAnd",
	ir.OpAtomicOr: "atomicOr", ir.OpAtomicXor: "atomicXor", ir.OpAtomicXchg: "atomicExch", ir.OpAtomicCAS: "atomicCAS",
	ir.OpAtomicAddF: "atomicAdd",
}

func (p *printer) atomic(i *ir.Instr) {
	if p.isShared(i.Args[0]) {
		p.meet(i, access{loads: true, stores: true})
	}
	array := "&" + p.element(i)
	if t := p.group(i.Args[0].ID).element(); t != typeOf(i.Type) {
		array = "(" + typeOf(i.Type) + "*)" + array
	}
	args := []string{array}
	for _, a := range i.Args[2:] {
		args = append(args, p.text(a, precSelect))
	}
	e := expression{text: atomics[i.Op] + "(" + strings.Join(args, ", ") + ")", prec: precPrimary}
	if len(p.uses[i.ID]) == 0 {
		p.statement(i, "%s;", e.text)
		return
	}
	p.known[i.ID] = p.bind(i, e, "old", typeOf(i.Type))
}

// meet makes the lanes of the warp wait for each other where one may load from the scratchpad what another has stored,
// or store over what another has yet to load. Lanes of the simulated machine execute in lock step.
func (p *printer) meet(i *ir.Instr, next access) {
	if !p.quiet && (next.loads && p.pending.stores || next.stores && p.pending.loads) {
		p.statement(i, "__syncwarp(%s);", p.mask)
		p.pending = access{}
	}
	p.pending.loads = p.pending.loads || next.loads
	p.pending.stores = p.pending.stores || next.stores
}
