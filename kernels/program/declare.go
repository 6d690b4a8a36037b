package program

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"heddle/kernels/compose"
	"heddle/kernels/workload"
)

// kind is the type of a word.
type kind uint8

const (
	u32 kind = iota
	i32
	f32
)

var kinds = [...]string{u32: "u32", i32: "i32", f32: "f32"}

func (k kind) cType() string { return [...]string{u32: "unsigned", i32: "int", f32: "float"}[k] }

// declared is a declared parameter or array of a program.
type declared struct {
	name  string
	kind  kind
	value uint32 // the parameter's value, or that of each word of the array
	words sum    // the array's length
}

// sum is a sum of products: the length of an array in words.
type sum []product

type product struct {
	factor          uint64
	vertices, edges int // powers
}

// maxWords exceeds the words of the address space.
const maxWords = 1 << 30

// of evaluates the sum for a graph; ok is false if it exceeds the words of the address space.
func (s sum) of(vertices, edges uint64) (words uint64, ok bool) {
	for _, p := range s {
		n := p.factor
		for _, f := range []struct {
			times int
			by    uint64
		}{{p.vertices, vertices}, {p.edges, edges}} {
			for range f.times {
				if f.by > 0 && n > maxWords/f.by {
					return 0, false
				}
				n *= f.by
			}
		}
		if words += n; words > maxWords {
			return 0, false
		}
	}
	return words, true
}

// Limits on declarations; more indicates a mistake.
const (
	maxDeclared = 256
	maxTerms    = 16
)

var (
	name      = `([A-Za-z_][A-Za-z0-9_]*)`
	typed     = `^\s*(?:(u32|i32|f32)\s+)?`
	parameter = regexp.MustCompile(typed + name + `\s*=\s*(\S+)\s*$`)
	array     = regexp.MustCompile(typed + name + `\s*\[([^\]]*)\]\s*(?:=\s*(\S+)\s*)?$`)
	symbol    = regexp.MustCompile(`^` + name + `$`)
	define    = regexp.MustCompile(`^` + name + `=([A-Za-z0-9_.+\-]*)$`)
)

// refuse returns an error for a key of workload.
func refuse(key, format string, args ...any) error {
	return &compose.KeyError{Key: "workload." + key, Msg: ": " + fmt.Sprintf(format, args...)}
}

// Host is workload.host, parsed, and checked as far as possible without the program and the graph.
type Host struct {
	spec       workload.HostProgram
	parameters []declared
	arrays     []declared
}

// NewHost parses a workload's host. An error names its key.
func NewHost(spec workload.HostProgram) (*Host, error) {
	h := &Host{spec: spec}
	if len(spec.Parameters)+len(spec.Arrays) > maxDeclared {
		return nil, refuse("host.arrays", "%d parameters and arrays: expected at most %d",
			len(spec.Parameters)+len(spec.Arrays), maxDeclared)
	}
	taken := map[string]string{}
	for _, w := range words {
		taken[w.Name] = "a word of every program's block"
	}
	for _, text := range spec.Parameters {
		d, err := parseParameter(text)
		if err == nil {
			err = take(taken, "host.parameters", d.name)
		}
		if err != nil {
			return nil, err
		}
		h.parameters = append(h.parameters, d)
	}
	for _, text := range spec.Arrays {
		d, err := parseArray(text)
		if err == nil {
			err = take(taken, "host.arrays", d.name)
		}
		if err != nil {
			return nil, err
		}
		h.arrays = append(h.arrays, d)
	}
	return h, h.check()
}

// take returns an error for a name that is already taken.
func take(taken map[string]string, key, name string) error {
	if whose, ok := taken[name]; ok {
		return refuse(key, "%s: the name is taken, by %s", name, whose)
	}
	if slices.Contains(cWords, name) {
		return refuse(key, "%s: expected a name that C does not have for something else", name)
	}
	taken[name] = "workload." + key
	return nil
}

// cWords are C's keywords that look like names, and the struct's own field.
var cWords = strings.Fields("reserved auto break case char const continue default do double else enum extern float " +
	"for goto if inline int long register restrict return short signed sizeof static struct switch typedef union " +
	"unsigned void volatile while")

func parseParameter(text string) (declared, error) {
	m := parameter.FindStringSubmatch(text)
	if m == nil {
		return declared{}, refuse("host.parameters", "%q: expected NAME = VALUE, with u32, i32 or f32 before it or not",
			text)
	}
	return value("host.parameters", text, m[1], m[2], m[3])
}

func parseArray(text string) (declared, error) {
	m := array.FindStringSubmatch(text)
	if m == nil {
		return declared{}, refuse("host.arrays",
			"%q: expected NAME[WORDS] or NAME[WORDS] = VALUE, with u32, i32 or f32 before it or not", text)
	}
	d := declared{name: m[2]}
	d.kind = kind(max(0, slices.Index(kinds[:], m[1])))
	if m[4] != "" {
		var err error
		if d, err = value("host.arrays", text, m[1], m[2], m[4]); err != nil {
			return d, err
		}
	}
	var err error
	d.words, err = parseSum(text, m[3])
	return d, err
}

// value parses a number of the given type, or of the type that its notation implies.
func value(key, whole, typ, name, text string) (declared, error) {
	d := declared{name: name}
	switch {
	case typ != "":
		d.kind = kind(slices.Index(kinds[:], typ))
	case strings.HasPrefix(text, "-") && !isFloat(text):
		d.kind = i32
	case isFloat(text):
		d.kind = f32
	}
	var err error
	switch d.kind {
	case u32:
		var n uint64
		n, err = strconv.ParseUint(text, 0, 32)
		d.value = uint32(n)
	case i32:
		var n int64
		n, err = strconv.ParseInt(text, 0, 32)
		d.value = uint32(int32(n))
	case f32:
		var x float64
		x, err = strconv.ParseFloat(text, 32)
		d.value = math.Float32bits(float32(x))
	}
	if err != nil {
		return d, refuse(key, "%q: %s is no %s", whole, text, kinds[d.kind])
	}
	return d, nil
}

// isFloat reports whether a number is written as a float: with a point or an exponent.
func isFloat(text string) bool {
	lower := strings.ToLower(text)
	return !strings.HasPrefix(strings.TrimLeft(lower, "+-"), "0x") && strings.ContainsAny(lower, ".enf")
}

func parseSum(whole, text string) (s sum, err error) {
	terms := strings.Split(text, "+")
	if len(terms) > maxTerms {
		return nil, refuse("host.arrays", "%q: expected at most %d terms", whole, maxTerms)
	}
	for _, term := range terms {
		p := product{factor: 1}
		factors := strings.Split(term, "*")
		if len(factors) > maxTerms {
			return nil, refuse("host.arrays", "%q: expected at most %d factors", whole, maxTerms)
		}
		for _, f := range factors {
			switch f = strings.TrimSpace(f); f {
			case "vertices":
				p.vertices++
			case "edges":
				p.edges++
			default:
				n, err := strconv.ParseUint(f, 0, 32)
				if err != nil || n > 0 && p.factor > maxWords/n {
					return nil, refuse("host.arrays",
						"%q: %q: expected numbers, vertices and edges, joined by * and +, up to 2^30 words", whole, f)
				}
				p.factor *= n
			}
		}
		s = append(s, p)
	}
	return s, nil
}

// check returns an error for names that are not declared.
func (h *Host) check() error {
	for _, n := range h.kernels() {
		if !symbol.MatchString(n.name) {
			return refuse(n.key, "%q: expected the name of a function or symbol", n.name)
		}
	}
	for _, d := range h.spec.Defines {
		if !define.MatchString(d) {
			return refuse("host.defines", "%q: expected NAME=VALUE, of letters, digits and _ . + -", d)
		}
	}
	switch {
	case len(h.spec.Steps) == 0 && len(h.spec.Init) > 0:
		return refuse("host.init", "without steps: expected steps, as without them the program does all in one launch")
	case len(h.spec.Steps) == 0 && h.spec.Until != "":
		return refuse("host.until", "without steps there is nothing to repeat: expected steps")
	case h.spec.Until != "" && h.array(h.spec.Until) == nil:
		return refuse("host.until", "%s: expected one of host.arrays", h.spec.Until)
	case h.spec.Result != "" && h.array(h.spec.Result) == nil:
		return refuse("host.result", "%s: expected one of host.arrays", h.spec.Result)
	}
	return nil
}

// named is a kernel and the key that names it.
type named struct{ key, name string }

// kernels returns all named kernels, in the order of their launches.
func (h *Host) kernels() (list []named) {
	for _, n := range h.spec.Init {
		list = append(list, named{"host.init", n})
	}
	for _, n := range h.spec.Steps {
		list = append(list, named{"host.steps", n})
	}
	if n := h.spec.CheckKernel; n != "" {
		list = append(list, named{"host.check_kernel", n})
	}
	return list
}

// array returns an array; nil: not declared.
func (h *Host) array(name string) *declared {
	for i := range h.arrays {
		if h.arrays[i].name == name {
			return &h.arrays[i]
		}
	}
	return nil
}

// Checked reports whether the result has a check.
func (h *Host) Checked() bool {
	return h.spec.Check != "" || h.spec.CheckFile != "" || h.spec.CheckKernel != ""
}

// asks reports whether the program requests those arrays of the graph.
func (h *Host) asks(p workload.GraphPart) bool { return slices.Contains(h.spec.Graph, p) }
