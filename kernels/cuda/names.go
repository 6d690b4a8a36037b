package cuda

import (
	"fmt"
	"strings"

	"heddle/kernels/ir"
)

// fresh returns a name that is not taken, and takes it.
func (p *printer) fresh(name string) string {
	name = identifier(name)
	if name == "" {
		name = "x"
	}
	unique := name
	for n := 2; p.taken[unique] || reserved[unique]; n++ {
		unique = fmt.Sprintf("%s%d", name, n)
	}
	p.taken[unique] = true
	return unique
}

// reserved are words of C++ and names of the library.
var reserved = map[string]bool{"register": true, "new": true, "delete": true, "this": true, "class": true, "min": true,
	"max": true, "bytes": true, "signed": true, "unsigned": true, "float": true, "index": true}

// Reserved reports whether a name that a user has chosen can be none in exported programs: a word of C++, a function of
// its library, a macro or a name of ours.
func Reserved(name string) bool { return foreign[name] || reserved[name] }

var foreign = func() map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.Fields(`alignas alignof and and_eq asm auto bitand bitor bool break case catch char class
		compl const constexpr const_cast continue decltype default delete do double dynamic_cast else enum explicit export
		extern false float for friend goto if inline int long mutable namespace new noexcept not not_eq nullptr operator or
		or_eq private protected public register reinterpret_cast return short signed sizeof static static_assert
		static_cast struct switch template this thread_local throw true try typedef typeid typename union unsigned using
		virtual void volatile wchar_t while xor xor_eq main std heddle abs div exp log sin cos tan sqrt floor ceil time
		clock exit remove rename rand read write select signal y0 y1 yn j0 j1 jn gamma unix linux NULL EOF errno assert
		stdin stdout stderr isnan isinf isfinite signbit INFINITY NAN uint8_t uint32_t int32_t uint64_t int64_t size_t
		threadIdx blockIdx blockDim gridDim warpSize lane warp warps thread threads thread_spread advance quotient modulo
		scratchpad THREADS CORES MIN_BLOCKS ALL_LANES SCRATCHPAD COUNT_EDGE fabsf fmaf sqrtf grid_barrier on_host`) {
		set[word] = true
	}
	return set
}()

// nameOf returns a name for a constant: by the instruction's hint, by the array that it is loaded from, or by its use.
func (p *printer) nameOf(i *ir.Instr) string {
	switch {
	case i.Name != "":
		return i.Name
	case i.Op == ir.OpLoad || i.Op == ir.OpLoadByte:
		return p.nameOfLoad(i)
	case i.Op == ir.OpGet:
		return p.vars[i.Var.ID] + "_now"
	case i.Op == ir.OpBallot:
		return "lanes"
	case i.Op.Kind() == ir.KindWarp:
		return "other"
	case p.is[i.ID]:
		return "at"
	case i.Type == ir.Pred:
		return p.nameOfTest(i)
	}
	if n := p.indexName(i); n != "" {
		return n
	}
	return "x"
}

// nameOfTest returns a name for a condition.
func (p *printer) nameOfTest(*ir.Instr) string { return "holds" }

// arrayName returns the name of the array that an address is the beginning of; "": of none.
func (p *printer) arrayName(v ir.Value) string {
	switch v.Op {
	case ir.OpParam:
		return p.kernel.Params[v.Imm].Name
	case ir.OpShared:
		return p.kernel.Shared[v.Imm].Name
	}
	return ""
}

// nameOfLoad returns a name for a word of an array.
func (p *printer) nameOfLoad(i *ir.Instr) string {
	name := p.arrayName(i.Args[0])
	order, part, dotted := strings.Cut(name, ".")
	switch {
	case part == "offsets" || strings.HasPrefix(part, "firsts"):
		return choose(i.Args[1] != nil && i.Args[1].Op == ir.OpAdd, "end", "begin")
	case part == "ids" && order == "csr", part == "rows" && order == "csc", part == "destinations":
		return "dst"
	case part == "ids" && order == "csc", part == "rows" && order == "csr", part == "sources":
		return "src"
	case part == "weights":
		return "weight"
	case strings.HasSuffix(part, "queue") || strings.HasPrefix(name, "twc."):
		return "v"
	case name == "":
		return "word"
	case !dotted && i.Args[1] != nil:
		if at := p.of(i.Args[1]).text; plain(at) && len(at) <= 8 && !strings.ContainsAny(at[:1], "0123456789") {
			return name + "_of_" + at
		}
		return name
	}
	return name
}

// nameOfVar returns a name for a variable.
func (p *printer) nameOfVar(i *ir.Instr) string {
	switch init := i.Args[0]; {
	case i.Var.Name != "":
		return i.Var.Name
	case p.is[p.values+i.Var.ID]:
		return "record"
	case init.Op == ir.OpLoad && p.known[init.ID].text != "" && !plain(p.known[init.ID].text):
		return p.nameOfLoad(init)
	case i.Var.Type == ir.F32:
		return "sum"
	}
	return "t"
}

// nameOfIndex returns a name for the index of a loop, by the array or row that it indexes.
func (p *printer) nameOfIndex(_, index *ir.Instr) string {
	if n := p.indexName(index); n != "" {
		return n
	}
	return "i"
}

// indexName returns a name for a number by the arrays that it is an index of; "": of none.
func (p *printer) indexName(i *ir.Instr) string {
	for _, u := range p.uses[i.ID] {
		if u.Op == ir.OpAdd && i.Op == ir.OpIndex && len(p.uses[u.ID]) > 0 {
			continue
		}
		if !u.Op.Memory() || u.Args[1] != i {
			continue
		}
		_, part, _ := strings.Cut(p.arrayName(u.Args[0]), ".")
		switch {
		case part == "ids" || part == "weights" || part == "rows":
			return "e"
		case strings.HasSuffix(part, "queue") || part == "upto" || part == "shift" || strings.HasPrefix(part, "map"):
			return "place"
		case p.isShared(u.Args[0]):
			return "slot"
		case part == "" || part == "offsets":
			return "v"
		}
	}
	return ""
}
