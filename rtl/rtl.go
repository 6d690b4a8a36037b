// Package rtl holds graph units in SystemVerilog, in step with the Go models in components: the same answers in the
// same cycles, which the tests of this package compare at every port. The folder of a unit documents its
// micro-architecture.
package rtl

import (
	"crypto/sha256"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"heddle/components/ctrlproc"
	"heddle/components/graphpeg"
	"heddle/components/weaver"
)

//go:embed weaver/*.sv graphpeg/*.sv ctrlproc/*.sv
var sources embed.FS

// Unit is a unit in SystemVerilog, with the parameters of a configuration.
type Unit struct {
	Top        string // name of its top module, and of its folder
	Parameters []Parameter
}

// Parameter is a parameter of the top module.
type Parameter struct {
	Name  string `json:"name"`
	Value int    `json:"value"`
	bit   bool   // not a number
}

// Literal returns the value in SystemVerilog.
func (p Parameter) Literal() string {
	if p.bit {
		return fmt.Sprintf("1'b%d", p.Value)
	}
	return strconv.Itoa(p.Value)
}

func number(name string, v int) Parameter { return Parameter{Name: name, Value: v} }

func bit(name string, v bool) Parameter {
	if v {
		return Parameter{name, 1, true}
	}
	return Parameter{name, 0, true}
}

// Elsewhere returns the module of the unit, if any, that stands for memory and wires which a core has without it: it
// says what the unit does with them in a cycle.
func (u Unit) Elsewhere() string {
	if u.Top == "graphpeg" {
		return "graphpeg_spad"
	}
	return ""
}

// TagBits is the width of the tag that the core gets back with an answer.
const TagBits = 8

// Weaver returns the Weaver of a core of that shape, without slots of the ST that no lane has. The spec must be
// derived.
func Weaver(s weaver.Spec, warps, threads int) (Unit, error) {
	if err := s.Check(warps, threads); err != nil {
		return Unit{}, err
	}
	for _, p := range []Parameter{number("core.threads", threads), number("core.weaver.st_row", s.STRow)} {
		if bits.OnesCount(uint(p.Value)) != 1 {
			return Unit{}, fmt.Errorf("%s = %d: the Weaver in SystemVerilog needs a power of two, since its tables are banked "+
				"by lane",
				p.Name, p.Value)
		}
	}
	return Unit{Top: "weaver", Parameters: []Parameter{
		number("StEntries", min(s.STEntries, warps*threads)), number("StRow", s.STRow), number("Warps", warps),
		number("Lanes", threads),
		number("TableLatency", s.TableLatency), bit("Prefetch", s.Prefetch), bit("SkipEmpty", s.SkipEmpty),
		bit("MaskByUnit", s.MaskByUnit), number("RequestQueue", s.RequestQueue), number("TagW", TagBits),
	}}, nil
}

// ErrNone reports that a unit is not in SystemVerilog.
var ErrNone = errors.New("there is no SystemVerilog of it")

// GraphPEG returns the GraphPEG of a core of that shape. The spec must be derived.
func GraphPEG(s graphpeg.Spec, at graphpeg.Shape) (Unit, error) {
	if err := s.Check(at.Threads, at.LineBytes); err != nil {
		return Unit{}, err
	}
	if s.PopOrder != "ring" {
		return Unit{}, fmt.Errorf("core.graphpeg.pop_order = %s: %w: expected ring", s.PopOrder, ErrNone)
	}
	if s.TLBEntries > 0 {
		return Unit{}, fmt.Errorf("core.graphpeg.tlb_entries = %d: %w: expected 0", s.TLBEntries, ErrNone)
	}
	slots, words := s.Sizes(at.LineBytes)
	return Unit{Top: "graphpeg", Parameters: []Parameter{
		number("Lanes", at.Threads), number("Warps", at.Warps), number("Line", at.LineBytes/4),
		number("AlwtEntries", s.ALWTEntries), number("Slots", slots), number("VertexLists", s.VertexLists),
		number("ListWords", words), number("RegionLines", s.ListRegion/at.LineBytes),
		number("BufferLatency", s.BufferLatency), bit("ReleaseAtReturn", s.FERelease == "return"),
		bit("SpillByVertex", s.Spill == "vertex"), bit("DonationFirst", s.DonationPriority == "donation"),
		number("TagW", TagBits),
	}}, nil
}

// ControlProcessor returns the part of the control processor that balances the units of that many cores. The way
// between it and them is not in it.
func ControlProcessor(s ctrlproc.Spec, cores int) (Unit, error) {
	if s.Policy == ctrlproc.PolicyIdeal {
		return Unit{}, fmt.Errorf("ctrlproc.policy = %s: %w, since no hardware moves work in zero time: expected none, ef, "+
			"vl or ef+vl", s.Policy, ErrNone)
	}
	edges, vertices := s.Balances()
	return Unit{Top: "ctrlproc", Parameters: []Parameter{
		number("Cores", cores), number("Group", s.GroupOf(cores)), number("Interval", s.Interval),
		number("ThresholdShift", s.ThresholdShift), number("Threshold", s.Threshold), bit("BalanceEdges", edges),
		bit("BalanceVertices", vertices),
	}}, nil
}

// Write writes the unit's sources into a folder, and returns their names in the order in which tools need them:
// packages first.
func (u Unit) Write(dir string) (names []string, err error) {
	all, err := fs.ReadDir(sources, u.Top)
	if err != nil {
		return nil, err
	}
	for _, f := range all {
		text, err := sources.ReadFile(u.Top + "/" + f.Name())
		if err != nil {
			return nil, err
		}
		if err := os.WriteFile(filepath.Join(dir, f.Name()), text, 0o644); err != nil {
			return nil, err
		}
		names = append(names, f.Name())
	}
	slices.SortStableFunc(names, func(a, b string) int { return rank(a) - rank(b) })
	return names, nil
}

// Lines returns the number of lines of the unit's sources that are neither empty nor a comment alone.
func (u Unit) Lines() (n int, err error) {
	err = u.each(func(_ string, text []byte) {
		for line := range strings.Lines(string(text)) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
				n++
			}
		}
	})
	return n, err
}

// each calls f with each of the unit's files.
func (u Unit) each(f func(path string, text []byte)) error {
	return fs.WalkDir(sources, u.Top, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := sources.ReadFile(path)
		f(path, text)
		return err
	})
}

// Digest identifies the unit's sources.
func (u Unit) Digest() (string, error) {
	h := sha256.New()
	err := u.each(func(path string, text []byte) { fmt.Fprintf(h, "%s %d\n%s", path, len(text), text) })
	return fmt.Sprintf("%x", h.Sum(nil)), err
}

func rank(name string) int {
	if strings.HasSuffix(name, "_pkg.sv") {
		return 0
	}
	return 1
}

// Chparams returns the parameters as options of Yosys's command hierarchy.
func (u Unit) Chparams() (options string) {
	for _, p := range u.Parameters {
		options += fmt.Sprintf(" -chparam %s %s", p.Name, p.Literal())
	}
	return options
}
