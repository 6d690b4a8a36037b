package ir

import (
	"fmt"
	"strings"
)

// expected maps a letter of a signature to its types.
var expected = map[byte]struct {
	types string // names, for messages
	has   func(Type) bool
	same  bool // the same type at all occurrences
}{
	'n': {"i32, u32 or f32", func(t Type) bool { return t.Int() || t == F32 }, true},
	'i': {"i32 or u32", Type.Int, true},
	'l': {"i32, u32 or pred", func(t Type) bool { return t.Int() || t == Pred }, true},
	't': {"any type", func(t Type) bool { return t != None }, true},
	'u': {"u32", func(t Type) bool { return t == U32 }, false},
	'f': {"f32", func(t Type) bool { return t == F32 }, false},
	'p': {"pred", func(t Type) bool { return t == Pred }, false},
	'x': {"i32 or u32", Type.Int, false},
	'w': {"any type", func(t Type) bool { return t != None }, false},
	'r': {"any type", func(t Type) bool { return t != None }, false},
	'-': {"nothing", func(t Type) bool { return t == None }, false},
}

// checkTypes checks an instruction against its row's signature.
func checkTypes(i *Instr) error {
	args, result, _ := strings.Cut(ops[i.Op].sig, ":")
	var bound [256]Type
	n := 0
	for k := 0; k < len(args); k++ {
		optional := args[k] == '?'
		if optional {
			k++
		}
		if n >= len(i.Args) {
			return fmt.Errorf("%s has %d arguments, and needs more", i.Op, len(i.Args))
		}
		a := i.Args[n]
		n++
		if a == nil && optional {
			continue
		}
		if a == nil {
			return fmt.Errorf("argument %d of %s is nil", n, i.Op)
		}
		if err := fits(args[k], a.Type, &bound); err != nil {
			return fmt.Errorf("argument %d of %s is %s: expected %w", n, i.Op, a.Type, err)
		}
	}
	if n != len(i.Args) {
		return fmt.Errorf("%s has %d arguments: expected %d", i.Op, len(i.Args), n)
	}
	if err := fits(result[0], i.Type, &bound); err != nil {
		return fmt.Errorf("the value of %s is %s: expected %w", i.Op, i.Type, err)
	}
	return special(i)
}

func fits(letter byte, t Type, bound *[256]Type) error {
	e := expected[letter]
	if e.same && bound[letter] != None && bound[letter] != t {
		return fmt.Errorf("%s, as the one before", bound[letter])
	}
	if !e.has(t) {
		return fmt.Errorf("%s", e.types)
	}
	bound[letter] = t
	return nil
}

// special checks rules that signatures cannot express.
func special(i *Instr) error {
	switch i.Op {
	case OpConvert:
		from := i.Args[0].Type
		if (from == F32) == (i.Type == F32) && from != Pred || i.Type == Pred || from == Pred && i.Type == F32 {
			return fmt.Errorf("no conversion from %s to %s: integers to f32 and back, pred to integers; As… keeps "+
				"the bits", from, i.Type)
		}
	case OpBitcast:
		if i.Args[0].Type == Pred || i.Type == Pred {
			return fmt.Errorf("no bit cast from %s to %s", i.Args[0].Type, i.Type)
		}
	case OpLoad, OpStore:
		t := i.Type
		if i.Op == OpStore {
			t = i.Args[2].Type
		}
		if t == Pred {
			return fmt.Errorf("%s of a pred: convert it to an integer", i.Op)
		}
	}
	return nil
}

// Verify checks a kernel: types, uses of undefined values, barriers where only some lanes are active, values that
// AllLanes uses but only some lanes have.
func Verify(k *Kernel) error {
	v := verifier{k: k, scope: make([]bool, k.Instr), vars: make([]bool, k.Vars), owner: make([]*Instr, k.Instr),
		u: Analyse(k)}
	for _, r := range k.Roots {
		v.scope[r.ID] = true
		v.owner[r.ID] = r
		if r.Op.Kind() != KindRoot {
			return fmt.Errorf("%s among the roots", r.Op)
		}
	}
	return v.block(k.Body)
}

type verifier struct {
	k       *Kernel
	scope   []bool // values defined at this point
	vars    []bool
	owner   []*Instr
	loops   []Value
	u       *Uniformity
	partial int    // depth of constructs in which only some lanes may be active
	some    []bool // by ID: computed where only some lanes may be active
	someVar []bool
	hidden  []bool // values and variables that this AllLanes must not use
	hideVar []bool
}

// block checks a block and then, with its values still defined, the blocks that follow it.
func (v *verifier) block(b *Block, then ...*Block) error {
	var made []*Instr
	var vars []*Var
	for _, i := range b.Instrs {
		if err := v.instr(i); err != nil {
			if i.Pos != "" {
				return fmt.Errorf("%s: %w", i.Pos, err)
			}
			return err
		}
		made = append(made, i)
		v.scope[i.ID] = true
		if i.Op == OpVar {
			vars = append(vars, i.Var)
			v.vars[i.Var.ID] = true
		}
	}
	for _, t := range then {
		if err := v.block(t); err != nil {
			return err
		}
	}
	for _, i := range made {
		v.scope[i.ID] = false
	}
	for _, x := range vars {
		v.vars[x.ID] = false
	}
	return nil
}

func (v *verifier) instr(i *Instr) error {
	if v.owner[i.ID] != nil {
		return fmt.Errorf("%s is there twice", i.Op)
	}
	v.owner[i.ID] = i
	if err := checkTypes(i); err != nil {
		return err
	}
	for n, a := range i.Args {
		if a != nil && !v.scope[a.ID] {
			return fmt.Errorf(
				"argument %d of %s, a %s of %s, is not known here: it was computed in another block; a Var carries "+
					"values out of blocks",
				n+1, i.Op, a.Op, a.Pos)
		}
		if a != nil && v.isHidden(v.hidden, a.ID) {
			return fmt.Errorf("argument %d of %s, a %s of %s, is used in AllLanes, but was computed where only some "+
				"lanes run", n+1, i.Op, a.Op, a.Pos)
		}
	}
	if err := v.variable(i); err != nil {
		return err
	}
	if err := v.place(i); err != nil {
		return err
	}
	return v.blocks(i)
}

func (v *verifier) isHidden(list []bool, id int) bool { return list != nil && list[id] }

func (v *verifier) variable(i *Instr) error {
	switch i.Op {
	case OpGet, OpSet:
		if !v.vars[i.Var.ID] {
			return fmt.Errorf("%s of a variable that was made in another block", i.Op)
		}
		if v.isHidden(v.hideVar, i.Var.ID) && i.Op == OpGet {
			return fmt.Errorf("%s in AllLanes of a variable that was made where only some lanes run", i.Op)
		}
	case OpVar:
		v.mark(&v.someVar, v.k.Vars, i.Var.ID)
	}
	v.mark(&v.some, v.k.Instr, i.ID)
	return nil
}

// mark records a definition where only some lanes may be active.
func (v *verifier) mark(list *[]bool, n, id int) {
	if v.partial == 0 {
		return
	}
	if *list == nil {
		*list = make([]bool, n)
	}
	(*list)[id] = true
}

func (v *verifier) place(i *Instr) error {
	switch i.Op {
	case OpListEdges:
		if v.k.Lists != (ListOps{}) && v.k.Lists != pegLists {
			return fmt.Errorf("%s of a unit whose lists hold vertices only", i.Op)
		}
	case OpBarrier, OpDeviceBarrier:
		if v.partial > 0 {
			return fmt.Errorf("%s where only some lanes of a warp may be: behind a condition, in a loop or behind a "+
				"continue that differs between lanes", i.Op)
		}
		if i.Op == OpDeviceBarrier && v.k.Block > 0 {
			return fmt.Errorf("%s in a kernel of several thread blocks a core", i.Op)
		}
	case OpBlockEdge:
		if v.partial > 0 || v.k.Block < 2 {
			return fmt.Errorf("%s in a kernel whose thread blocks have %d warps, or where only some lanes may be: "+
				"expected 2 and more, and all lanes", i.Op, v.k.Block)
		}
	case OpBreak, OpContinue:
		for _, l := range v.loops {
			if l == i.Loop {
				return nil
			}
		}
		return fmt.Errorf("%s of a loop that it is not in", i.Op)
	}
	return nil
}

func (v *verifier) blocks(i *Instr) error {
	if len(i.Blocks) != ops[i.Op].blocks {
		return fmt.Errorf("%s has %d blocks: expected %d", i.Op, len(i.Blocks), ops[i.Op].blocks)
	}
	if len(i.Blocks) == 0 {
		return nil
	}
	outer := *v
	switch i.Op {
	case OpAllLanes:
		v.partial, v.hidden, v.hideVar = 0, clone(v.some, v.hidden), clone(v.someVar, v.hideVar)
		v.loops = nil
	case OpListEdges, OpListVertices, OpEghwEdges:
		v.loops = nil
	case OpLoop, OpFor, OpWeaverEdges:
		v.loops = append(v.loops[:len(v.loops):len(v.loops)], i)
	}
	if v.u.Partial[i.ID] {
		v.partial++
	}
	if err := v.inner(i); err != nil {
		return err
	}
	v.partial, v.hidden, v.hideVar, v.loops = outer.partial, outer.hidden, outer.hideVar, outer.loops
	return nil
}

func (v *verifier) inner(i *Instr) error {
	if i.TestFirst() {
		return v.block(i.Blocks[0], i.Blocks[1:]...)
	}
	for _, b := range i.Blocks {
		if err := v.block(b); err != nil {
			return err
		}
	}
	return nil
}

// clone returns the union.
func clone(a, b []bool) []bool {
	if a == nil {
		return b
	}
	c := append([]bool(nil), a...)
	for i := range b {
		c[i] = c[i] || b[i]
	}
	return c
}
