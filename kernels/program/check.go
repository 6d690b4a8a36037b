package program

import (
	"bufio"
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"

	"heddle/graph"
	"heddle/internal/files"
	"heddle/internal/tolerance"
	"heddle/kernels/algorithm"
	"heddle/kernels/compose"
	"heddle/kernels/host"
	"heddle/kernels/reference"
	"heddle/kernels/workload"
)

// algorithm returns the algorithm whose reference the workload requests.
func (h *Host) algorithm() (*algorithm.Algorithm, error) {
	if h.spec.Check == "" {
		return nil, nil
	}
	a, err := algorithm.ByName(h.spec.Check)
	if err != nil {
		return nil, refuse("host.check", "%s: expected one of %s", h.spec.Check, strings.Join(References(), ", "))
	}
	return a, nil
}

// maxCheckFile is the maximum size of a file of numbers, in bytes.
const maxCheckFile = 1 << 30

// expected reads the file with the expected result.
func (h *Host) expected() (numbers []float64, err error) {
	if h.spec.CheckFile == "" {
		return nil, nil
	}
	data, err := files.Read(h.spec.CheckFile, maxCheckFile)
	if err != nil {
		return nil, refuse("host.check_file", "%v", err)
	}
	return h.parse(data)
}

// parse reads numbers of the result's type, one per line.
func (h *Host) parse(data []byte) (numbers []float64, err error) {
	k := h.array(h.spec.Result).kind
	scan := bufio.NewScanner(bytes.NewReader(data))
	for line := 1; scan.Scan(); line++ {
		text := strings.TrimSpace(scan.Text())
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		x, err := number(k, text)
		if err != nil {
			return nil, refuse("host.check_file", "%s:%d: %q is no %s", h.spec.CheckFile, line, text, kinds[k])
		}
		numbers = append(numbers, x)
	}
	if err := scan.Err(); err != nil {
		return nil, refuse("host.check_file", "%s: %v", h.spec.CheckFile, err)
	}
	return numbers, nil
}

func number(k kind, text string) (float64, error) {
	switch k {
	case i32:
		n, err := strconv.ParseInt(text, 0, 32)
		return float64(n), err
	case f32:
		return strconv.ParseFloat(text, 32)
	}
	n, err := strconv.ParseUint(text, 0, 32)
	return float64(n), err
}

// asFloat interprets a word by its type.
func (k kind) asFloat(word uint32) float64 {
	switch k {
	case i32:
		return float64(int32(word))
	case f32:
		return float64(math.Float32frombits(word))
	}
	return float64(word)
}

// compare compares a result with the file's numbers.
func (p *Program) compare(result []uint32) error {
	k := p.array(p.spec.Result).kind
	wrong, at := 0, -1
	for i, w := range result {
		if got, want := k.asFloat(w), p.expect[i]; !p.near(k, got, want) {
			if wrong++; at < 0 {
				at = i
			}
		}
	}
	if wrong == 0 {
		return nil
	}
	return fmt.Errorf("%w: %s[%d] = %v, and line of %s for it says %v (%d of %d words differ)",
		reference.ErrWrong, p.spec.Result, at, k.asFloat(result[at]), p.spec.CheckFile, p.expect[at], wrong,
		len(result))
}

func (p *Program) near(k kind, got, want float64) bool {
	bound := 0.0
	if k == f32 {
		bound = p.spec.CheckTolerance * math.Abs(want)
	}
	return tolerance.Within(got, want, bound)
}

// problem returns the reference's input.
func (p *Program) problem(g *graph.Graph, w *workload.Workload, source uint32) *algorithm.Problem {
	width := 1
	if p.check.Vector != "" {
		width = w.Width
	}
	coefficient, err := algorithm.CoefficientByName(string(w.Coefficient))
	if err != nil {
		panic("BUG: program: " + err.Error()) // checked before
	}
	target := uint32(0)
	if p.check.Target {
		if target, err = g.Vertex(w.Target); err != nil {
			panic("BUG: program: " + err.Error()) // checked before
		}
	}
	return &algorithm.Problem{
		Graph: g, Source: source, Target: target, Damping: w.Damping, Tolerance: w.Tolerance,
		Threshold: w.Threshold, Seed: w.Seed, Width: width, Coefficient: coefficient,
	}
}

// acceptable returns an error for graphs that the check does not support, and for results that are too small for it.
func (p *Program) acceptable(g *graph.Graph, w *workload.Workload, source uint32) error {
	if p.spec.Result == "" {
		return nil
	}
	have, _ := p.array(p.spec.Result).words.of(uint64(g.Vertices()), uint64(g.Edges()))
	if p.expect != nil && uint64(len(p.expect)) != have {
		return refuse("host.check_file", "%s has %d numbers, and %s has %d words", p.spec.CheckFile, len(p.expect),
			p.spec.Result, have)
	}
	if p.check == nil {
		return nil
	}
	if err := p.check.Accepts(g); err != nil {
		return refuse("host.check", "%v", err)
	}
	if p.check.Target {
		if w.Target < 0 {
			return refuse("algorithm.target", "host.check %s looks for a target: expected a vertex", p.check.Name)
		}
		if _, err := g.Vertex(w.Target); err != nil {
			return refuse("algorithm.target", "%d: %v", w.Target, err)
		}
	}
	problem := p.problem(g, w, source)
	if fits := p.check.Fits; fits != nil {
		if err := fits(problem); err != nil {
			return err
		}
	}
	if want := uint64(p.check.Size(p.check.Result, problem)); have < want {
		return refuse("host.result", "%s has %d words, and the result of %s has %d: expected an array of as many",
			p.spec.Result, have, p.check.Name, want)
	}
	return nil
}

// reference compares the result with an algorithm's reference.
func (r *Run) reference() error {
	p := r.program
	problem := p.problem(r.graph, &r.workload, r.Source)
	problem.Tolerance = 0 // a program has no residuals to report
	result := r.read(p.spec.Result)[:p.check.Size(p.check.Result, problem)]
	return p.check.Check(problem, &algorithm.Outcome{Result: result, Steps: r.Steps})
}

// Rehearse does everything that precedes a run's first launch, and returns the host memory that its arrays need.
func (p *Program) Rehearse(d host.Device, g *graph.Graph, w workload.Workload) (compose.Memory, error) {
	r, err := p.NewRun(d, g, w)
	if err != nil {
		return compose.Memory{}, err
	}
	m := compose.Memory{Own: r.image.Bytes()}
	for name, bytes := range r.image.SharedBytes() {
		m.Own -= bytes
		if name == "coo_sources" || len(name) > 4 && name[:4] == "csc_" {
			m.Derived += bytes
		}
		if name == "out_degrees" || name == "in_degrees" {
			m.Own += bytes
		}
	}
	return m, nil
}

// References returns the names of the references that results can be checked against.
func References() (names []string) {
	for _, a := range algorithm.Algorithms() {
		names = append(names, a.Name)
	}
	return names
}
