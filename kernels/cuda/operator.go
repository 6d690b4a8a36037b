package cuda

import (
	"fmt"
	"slices"
	"strings"

	"heddle/kernels/compose"
	"heddle/kernels/host"
	"heddle/kernels/ir"
)

// Names returns the C++ text of a program's own array or number, by the name that kernels know it by; false: it is none
// of the program's.
type Names func(parameter string) (text string, ok bool)

// Operator writes an operator over edges of a program whose host side is outside this package: its kernels, its arrays,
// and a function that launches the kernels of one traversal.
type Operator struct {
	w     writer
	name  string
	names Names
	fused bool // within a loop that is one launch
}

// NewOperator returns an operator by a name that no other one has. reversed: its graph is the program's with edges
// reversed. What it needs beyond the graph goes into extra.
func NewOperator(o *compose.Outline, name string, reversed, fused bool, names Names,
	extra map[string][]uint32) *Operator {
	return &Operator{writer{Outline: o, prefix: name + ".", reversed: reversed, extra: extra}, name, names, fused}
}

// Threads returns the threads of a block on a machine, for kernels with a number of warps; 0: all. It returns an error
// for machines that are no CUDA device.
func Threads(s host.Shape, warps int) (int, error) {
	if s.Threads != Lanes {
		return 0, fmt.Errorf("machine.core.threads = %d: CUDA's warps have %d lanes, for which schedules are written: "+
			"give machine.core.threads: %d", s.Threads, Lanes, Lanes)
	}
	if warps == 0 {
		warps = s.Warps
	}
	if warps*Lanes > mostThreads {
		return 0, fmt.Errorf("machine.core.warps = %d: a core is a CUDA block, of at most %d threads: give at most %d, "+
			"or fewer in workload.schedule.warps_per_core", warps, mostThreads, mostThreads/Lanes)
	}
	return warps * Lanes, nil
}

// Function returns the name of a kernel's function.
func (x *Operator) Function(k *ir.Kernel) string { return x.name + "_" + identifier(k.Name) }

// Own returns the name of a variable of the operator's.
func (x *Operator) Own(name string) string { return x.name + "_" + identifier(name) }

// Variable returns the name of the array that kernels know by a name.
func (x *Operator) Variable(name string) string {
	if text, ok := x.names(name); ok {
		return text
	}
	for _, a := range x.w.Arrays {
		if a.Name == name && a.From == compose.OfGraph && !x.written(name) {
			return choose(x.w.reversed, "reversed_", "") + identifier(name)
		}
	}
	return x.Own(name)
}

func (x *Operator) written(name string) bool {
	_, written := x.w.role(name)
	return written
}

// Number returns the expression of a scalar parameter.
func (x *Operator) Number(p ir.Param) string {
	if text, ok := x.names(p.Name); ok {
		return text
	}
	switch p.Name {
	case "step", "active.size":
		return x.Own(p.Name)
	}
	return x.w.number(p)
}

// Kernels writes the operator's kernels. With loop they are functions of a kernel that loops over them, whose written
// arrays loop reports.
func (x *Operator) Kernels(t *Text, loop func(array string) bool) error {
	for _, k := range x.w.Kernels.All() {
		text, err := kernelAs(k, x.Function(k), loop)
		if err != nil {
			return err
		}
		t.line("// %s", kernelComment(k.Name))
		t.Raw(text + "\n")
	}
	return nil
}

// KernelAs returns a kernel as a CUDA function with a name. Its parameters have the names of a program's vectors and
// scalars without the code before them. With loop it is a function of a kernel that loops over it.
func KernelAs(k *ir.Kernel, name string, loop func(array string) bool) (text string, err error) {
	return kernelAs(k, name, loop)
}

func kernelAs(k *ir.Kernel, name string, loop func(array string) bool) (text string, err error) {
	named := *k
	named.Name = name
	named.Params = slices.Clone(k.Params)
	taken := map[string]bool{"vertices": true, "edges": true, "step": true, "launch": true}
	for _, p := range k.Params {
		taken[identifier(p.Name)] = true
	}
	of := map[string]string{} // the former names, by which loop knows arrays
	for i, p := range k.Params {
		kind, own, _ := strings.Cut(p.Name, ".")
		if (kind == "vector" || kind == "scalar") && !taken[own] && !Reserved(own) {
			taken[own] = true
			named.Params[i].Name = own
		}
		of[named.Params[i].Name] = p.Name
	}
	within := loop
	if loop != nil {
		within = func(array string) bool { return loop(of[array]) }
	}
	return kernel(&named, within)
}

// Array is an array that a program declares.
type Array struct{ Variable, Value string }

// Constants returns the arrays that no kernel changes, with the expressions of their contents. Operators on the same
// graph share those that follow from it.
func (x *Operator) Constants() (list []Array) {
	for _, a := range x.w.constants() {
		list = append(list, Array{x.Variable(a.Name), x.w.contents(a)})
	}
	return list
}

// Arrays returns the arrays that kernels change, with the expressions of their lengths. Those that pass on their roles
// are variables.
func (x *Operator) Arrays() (list, rotating []Array) {
	for _, a := range x.w.filled() {
		list = append(list, Array{x.Variable(a.Name), x.w.length(a)})
	}
	for _, r := range x.w.Frontier {
		for _, role := range r.Roles {
			words := x.w.room(role, r.Words)
			if x.fused && words == "1" {
				words = "3"
			}
			rotating = append(rotating, Array{x.Own(role), words})
		}
	}
	return list, rotating
}

// Filled returns the arrays, of those that kernels change, with contents of their own before a run.
func (x *Operator) Filled() (list []Array) {
	for _, a := range x.w.filled() {
		if a.Data != nil {
			list = append(list, Array{x.Variable(a.Name), x.w.contents(a)})
		}
	}
	return list
}

// Admit writes the kernels' admission to the device.
func (x *Operator) Admit(t *Text) {
	for _, k := range x.w.Kernels.All() {
		t.line("device.admit(%s, %d);", x.Function(k), k.SharedBytes())
	}
}

// Cooperative reports whether a kernel waits for all blocks.
func (x *Operator) Cooperative() bool {
	return slices.ContainsFunc(x.w.Kernels.All(), isCooperative)
}

// launch writes the launch of a kernel.
func (x *Operator) launch(t *Text, k *ir.Kernel) {
	if k == nil {
		return
	}
	args := []string{fmt.Sprintf("%q", x.name+" "+k.Name), x.Function(k), fmt.Sprint(k.SharedBytes()),
		fmt.Sprint(isCooperative(k))}
	t.Call("device.launch", append(args, x.arguments(k)...))
}

func (x *Operator) arguments(k *ir.Kernel) (args []string) {
	for _, p := range Parameters(k) {
		if p.Aligned {
			args = append(args, x.Variable(p.Name))
		} else {
			args = append(args, x.Number(p.Param))
		}
	}
	return args
}

// LaunchKernel writes the launch of a kernel that is no operator's over edges.
func LaunchKernel(t *Text, k *ir.Kernel, title, function string, argument func(p ir.Param) string) {
	args := []string{fmt.Sprintf("%q", title), function, fmt.Sprint(k.SharedBytes()), "false"}
	for _, p := range Parameters(k) {
		args = append(args, argument(p.Param))
	}
	t.Call("device.launch", args)
}
