package ir

// Clone returns a copy of a kernel that passes may modify.
func (k *Kernel) Clone() *Kernel {
	c := *k
	m := map[*Instr]*Instr{nil: nil}
	vars := map[*Var]*Var{nil: nil}
	c.Roots = cloneList(k.Roots, m, vars)
	c.Body = cloneBlock(k.Body, m, vars)
	return &c
}

func cloneBlock(b *Block, m map[*Instr]*Instr, vars map[*Var]*Var) *Block {
	return &Block{cloneList(b.Instrs, m, vars)}
}

func cloneList(list []*Instr, m map[*Instr]*Instr, vars map[*Var]*Var) []*Instr {
	var out []*Instr
	for _, i := range list {
		out = append(out, cloneInstr(i, m, vars))
	}
	return out
}

func cloneInstr(i *Instr, m map[*Instr]*Instr, vars map[*Var]*Var) *Instr {
	n := *i
	m[i] = &n
	n.Args = nil
	for _, a := range i.Args {
		n.Args = append(n.Args, m[a])
	}
	if i.Var != nil && vars[i.Var] == nil {
		v := *i.Var
		vars[i.Var] = &v
	}
	n.Var, n.Loop, n.Blocks = vars[i.Var], m[i.Loop], nil
	if i.Grid != nil {
		n.Grid = &Grid{vars[i.Grid.Next], m[i.Grid.Safe]}
	}
	for _, b := range i.Blocks {
		n.Blocks = append(n.Blocks, cloneBlock(b, m, vars))
	}
	return &n
}
