package lower

import (
	"errors"
	"sync"

	"heddle/graphit"
	"heddle/kernels/emit"
	"heddle/kernels/ir"
)

// ExternEmit emits a Go function's computation on a lane of the machine: of vertices, integers and floats, and doubles
// as floats.
type ExternEmit func(k *emit.Kernel, args []ir.Value) ir.Value

var (
	emittersMu sync.Mutex
	emitters   = map[string]ExternEmit{}
)

// AddExtern registers a Go function as an extern function of programs: emitter, for calls by functions of edges and
// vertices; nil: only main calls it.
func AddExtern(x *graphit.Extern, emitter ExternEmit) error {
	switch {
	case x == nil:
		return errors.New("it is nil")
	case emitter != nil && x.Value == nil:
		return errors.New("an Emit is for a function with a Value, with which the reference checks it")
	}
	name, err := graphit.AddExtern(x)
	if err != nil {
		return err
	}
	emittersMu.Lock()
	defer emittersMu.Unlock()
	emitters[name] = emitter
	return nil
}

// native emits a call of a Go function.
func (w *writer) native(x *graphit.Call) ir.Value {
	emittersMu.Lock()
	emitter := emitters[x.Func.Name]
	emittersMu.Unlock()
	if emitter == nil {
		refuse(x.Pos, "%s is a Go function without Emit: only main can call it", x.Name)
	}
	var args []ir.Value
	for i, a := range x.Args {
		t := x.Func.Params[i].Type
		if w.isWide(t) && t.IsReal() {
			t = &graphit.Type{Kind: graphit.Float}
		}
		args = append(args, w.as(a, t))
	}
	v, t := emitter(w.Kernel, args), x.Func.Result.Type
	if t.IsReal() && v.Type != ir.F32 || !t.IsReal() && v.Type == ir.F32 {
		refuse(x.Pos, "%s: its Emit returns %s for %s", x.Name, v.Type, t)
	}
	return v
}
