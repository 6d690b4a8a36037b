package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"heddle/components/accel"
	"heddle/configs"
	"heddle/graphit"
	"heddle/graphit/eval"
	"heddle/graphit/graphir"
	"heddle/graphit/lower"
	"heddle/internal/fit"
	"heddle/isa/emu"
	"heddle/kernels/compose"
	"heddle/kernels/host"
	"heddle/kernels/schedule"
)

// gtDrawn is the outcome of a program's runs under drawn schedules for GPUs.
type gtDrawn struct {
	Program  string   `json:"program"`
	Drawn    int      `json:"drawn"`
	Verified int      `json:"verified"`
	Refused  int      `json:"refused"` // by a message about the program, the schedule or a key
	Failed   int      `json:"failed"`
	Reasons  []string `json:"reasons,omitempty"`  // of refusals, each once
	Failures []string `json:"failures,omitempty"` // with the schedules
}

// drawing draws schedules for a program's labels.
type drawing struct {
	*rand.Rand
	text strings.Builder
	n    int
	unit string // load balance of the machine's graph unit; "": it has none
}

func one[T any](d *drawing, list ...T) T { return list[d.IntN(len(list))] }

// simple declares a schedule of an operator over edges, and returns its name. What is not drawn stays at its default.
func (d *drawing) simple(op *graphir.EdgeSetIterator) string {
	name := "q" + strconv.Itoa(d.n)
	d.n++
	fmt.Fprintf(&d.text, "SimpleGPUSchedule %s;\n", name)
	set := func(what, words string) {
		if words != "" {
			fmt.Fprintf(&d.text, "%s.config%s(%s);\n", name, what, words)
		}
	}
	balance := one(d, "", "VERTEX_BASED", "TWC", "TWCE", "STRICT", "WM", "CM", "EDGE_ONLY",
		"EDGE_ONLY, BLOCKED, "+strconv.Itoa(1+d.IntN(600)), d.unit)
	set("LoadBalance", balance)
	set("Direction", one(d, "", "PUSH", "PUSH", "PULL", "PULL, BITMAP", "PULL, BOOLMAP"))
	set("FrontierCreation", one(d, "", "FUSED", "UNFUSED_BITMAP", "UNFUSED_BOOLMAP"))
	set("Deduplication", one(d, "", "DISABLED", "ENABLED", "ENABLED, MONOTONIC_COUNTERS", "ENABLED, BITMAP",
		"ENABLED, BOOLMAP"))
	if op.Output == graphir.Priority && d.IntN(2) == 0 {
		set("Delta", strconv.Itoa(1+d.IntN(20)))
	}
	return name
}

// draw returns a schedule for a program, and its text.
func (d *drawing) draw(p *graphir.Program) (string, error) {
	apply := func(label, name string) {
		fmt.Fprintf(&d.text, "program->applyGPUSchedule(%q, %s);\n", label, name)
	}
	for _, op := range p.Edges {
		if op.Path == "" || d.IntN(8) == 0 {
			continue
		}
		name := d.simple(op)
		if d.IntN(4) == 0 {
			below, above := name, d.simple(op)
			name = "h" + strconv.Itoa(d.n)
			fmt.Fprintf(&d.text, "HybridGPUSchedule %s(INPUT_VERTEXSET_SIZE, %s, %s, %s);\n", name,
				one(d, "0", "0.05", "0.3", "1"), below, above)
		}
		apply(op.Path, name)
	}
	loops := map[string]bool{}
	p.Visit(func(s graphir.Stmt) {
		if path, loop := graphir.FusionOf(s); loop != nil && path != "" && !loops[path] {
			loops[path] = true
			if d.IntN(2) == 0 {
				fmt.Fprintf(&d.text, "SimpleGPUSchedule f%d;\nf%d.configKernelFusion(ENABLED);\n", d.n, d.n)
				apply(path, "f"+strconv.Itoa(d.n))
				d.n++
			}
		}
	})
	return d.text.String(), nil
}

// drawn runs a program under schedules that are drawn.
func (f *gtSurvey) drawn(ctx context.Context, x *surveyed, files []string) (*gtDrawn, error) {
	out := &gtDrawn{Program: x.Program}
	for i := range f.draw {
		if err := ctx.Err(); err != nil {
			return nil, failed(err)
		}
		file, err := f.linked(x)
		if err != nil {
			return nil, err
		}
		p, err := graphir.Build(file)
		if err != nil {
			return nil, err
		}
		d := &drawing{Rand: rand.New(rand.NewPCG(f.seed, uint64(i))), unit: one(&drawing{
			Rand: rand.New(rand.NewPCG(f.seed, uint64(i)))}, "", "WEAVER", "EGHW", "HWWL", "PEG")}
		src, err := d.draw(p)
		if err != nil {
			return nil, err
		}
		s, err := graphit.ParseSchedule("drawn", []byte(src))
		if err != nil {
			return nil, fmt.Errorf("BUG: a drawn schedule is wrong: %w\n%s", err, src)
		}
		out.Drawn++
		verified, err := f.under(ctx, file, files, s, d.unit)
		text := ""
		if err != nil {
			text = strings.Join(strings.Fields(err.Error()), " ")
		}
		switch {
		case verified:
			out.Verified++
		case isRefusal(err):
			out.Refused++
			if text = unplaced(text); !slices.Contains(out.Reasons, text) {
				out.Reasons = append(out.Reasons, text)
			}
		default:
			out.Failed++
			out.Failures = append(out.Failures, text+"\n"+src)
		}
	}
	return out, nil
}

// isRefusal reports whether an error is about the program, its schedule or a key, and not about a result.
func isRefusal(err error) bool {
	var of *graphit.Error
	var key *compose.KeyError
	return err != nil && !errors.Is(err, eval.ErrCheck) && !strings.Contains(err.Error(), "BUG: ") &&
		(errors.As(err, &of) || errors.As(err, &key) || strings.Contains(err.Error(), "config"))
}

// unplaced is a message without the position in a schedule that was drawn.
func unplaced(s string) string {
	if rest, ok := strings.CutPrefix(s, "drawn:"); ok {
		if _, says, ok := strings.Cut(rest, ": "); ok {
			return says
		}
	}
	return s
}

// under runs a program under a schedule, on a machine with a graph unit.
func (f *gtSurvey) under(ctx context.Context, file *graphit.File, files []string, s *graphit.Schedule,
	unit string) (verified bool, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("BUG: %v", r)
		}
	}()
	g, args, err := f.inputs(file, files)
	if err != nil {
		return false, err
	}
	ctx, cancel := context.WithTimeout(ctx, f.limit)
	defer cancel()
	var spec accel.Spec
	if of, err := schedule.ByName(string(lower.ScheduleOf(unit))); err == nil && of.Unit != nil {
		spec = configs.DefaultUnit(accel.KindNamed(of.UnitName()))
	}
	d, err := host.NewFunctional(emu.Config{Cores: 2, Warps: 4, Threads: 4}, spec)
	if err != nil {
		return false, err
	}
	w, err := operatorWorkload(nil)
	if err != nil {
		return false, err
	}
	r, err := lower.Run(ctx, d, g, file, lower.Options{Args: args, Output: io.Discard, Float: f.float, Workload: w,
		Schedule: s, HostOnly: true})
	return r.Verified, err
}

// drawnTable prints the outcomes of drawn schedules.
func drawnTable(w io.Writer, list []*gtDrawn) {
	const columns = 80
	if n := fit.Columns(w); n == 0 || n > columns {
		w = fit.Writer{Writer: w, Columns: columns}
	}
	t := newTable(w, "program", "schedules", "verified", "refused", "failed")
	var all gtDrawn
	for _, x := range list {
		t.AppendRow(table.Row{strings.TrimSuffix(x.Program, ".gt"), x.Drawn, x.Verified, x.Refused, x.Failed})
		all.Drawn, all.Verified = all.Drawn+x.Drawn, all.Verified+x.Verified
		all.Refused, all.Failed = all.Refused+x.Refused, all.Failed+x.Failed
		for _, s := range x.Reasons {
			if !slices.Contains(all.Reasons, s) {
				all.Reasons = append(all.Reasons, s)
			}
		}
	}
	t.AppendSeparator()
	t.AppendRow(table.Row{fmt.Sprintf("%d in all", len(list)), all.Drawn, all.Verified, all.Refused, all.Failed})
	t.Render()
	for _, s := range all.Reasons {
		fmt.Fprintln(w, text.WrapText("  refused: "+s, columns))
	}
	for _, x := range list {
		for _, s := range x.Failures {
			fmt.Fprintln(w, "\n"+x.Program+": "+s)
		}
	}
}
