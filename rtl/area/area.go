// Package area measures the cost of hardware: logic and registers of units in SystemVerilog, mapped by Yosys, and the
// storage that a machine's configuration implies.
package area

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"heddle/internal/files"
	"heddle/rtl"
)

// Mapping is a unit mapped by Yosys.
type Mapping struct {
	Tool       string          `json:"tool"`
	Unit       string          `json:"unit"` // the top module
	Parameters []rtl.Parameter `json:"parameters"`
	Liberty    string          `json:"liberty,omitempty"` // SHA-256 of the file
	Parts      []Part          `json:"parts"`
	Memories   []Memory        `json:"memories"` // not in the parts
}

// Part is a module of the unit, without those in it.
type Part struct {
	Module    string  `json:"module"`
	Registers int     `json:"registers"`
	LUTs      int     `json:"luts"`            // of six inputs
	Gates     float64 `json:"gates"`           // equivalents of a NAND of two inputs, registers included
	Cells     float64 `json:"cells,omitempty"` // area by the Liberty file, in its unit
}

// Memory is a memory as a black box, with a port to read.
type Memory struct {
	Module string `json:"module"` // that has it
	Banks  int    `json:"banks"`
	Bits   int    `json:"bits"`   // of a bank
	Writes int    `json:"writes"` // ports to write
}

// Total adds the parts up.
func (m *Mapping) Total() (t Part) {
	t.Module = "total"
	for _, p := range m.Parts {
		t.Registers += p.Registers
		t.LUTs += p.LUTs
		t.Gates += p.Gates
		t.Cells += p.Cells
	}
	return t
}

// MemoryBits returns the bits of all memories.
func (m *Mapping) MemoryBits() (n int) {
	for _, b := range m.Memories {
		n += b.Banks * b.Bits
	}
	return n
}

// ErrNoYosys: Yosys is not installed.
var ErrNoYosys = errors.New("yosys is not installed (Debian: apt-get install yosys)")

// Map maps a unit, once: the user's cache keeps the result. liberty is a file with a library of cells, or empty.
func Map(ctx context.Context, u rtl.Unit, liberty string) (*Mapping, error) {
	yosys, err := exec.LookPath("yosys")
	if err != nil {
		return nil, ErrNoYosys
	}
	version, err := exec.CommandContext(ctx, yosys, "-V").Output()
	if err != nil {
		return nil, fmt.Errorf("yosys -V: %w", err)
	}
	m := &Mapping{Unit: u.Top, Parameters: u.Parameters}
	m.Tool, _, _ = strings.Cut(strings.TrimSpace(string(version)), " (")
	var cells []byte
	if liberty != "" {
		if cells, err = os.ReadFile(liberty); err != nil {
			return nil, fmt.Errorf("--liberty: %w", err)
		}
		m.Liberty = fmt.Sprintf("%x", sha256.Sum256(cells))
	}
	kept, err := m.cache(u, version)
	if err == nil && m.load(kept) {
		return m, nil
	}
	if err := m.compute(ctx, yosys, u, cells, liberty); err != nil {
		return nil, err
	}
	if text, failed := json.Marshal(m); err == nil && failed == nil {
		files.Write(kept, text) //nolint:errcheck // without it the next call maps again
	}
	return m, nil
}

// cache returns the file that keeps the mapping: its name follows from everything that it depends on.
func (m *Mapping) cache(u rtl.Unit, version []byte) (file string, err error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	sources, err := u.Digest()
	if err != nil {
		return "", err
	}
	h := sha256.Sum256(fmt.Appendf(nil, "3 %s %s %s %s", version, sources, m.Liberty, script(u, nil, m.Liberty != "")))
	dir = filepath.Join(dir, "heddle", "area")
	return filepath.Join(dir, fmt.Sprintf("%s-%.12x.json", u.Top, h)), os.MkdirAll(dir, 0o755)
}

// load reads a mapping that was kept.
func (m *Mapping) load(file string) bool {
	text, err := os.ReadFile(file)
	var kept Mapping
	if err != nil || json.Unmarshal(text, &kept) != nil || len(kept.Parts) == 0 {
		return false
	}
	m.Parts, m.Memories = kept.Parts, kept.Memories
	return true
}

// compute maps the unit, with the text of a Liberty file or nil.
func (m *Mapping) compute(ctx context.Context, yosys string, u rtl.Unit, cells []byte, liberty string) error {
	dir, err := os.MkdirTemp("", "heddle-area-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // what is left is the system's to remove
	names, err := u.Write(dir)
	if err != nil {
		return err
	}
	if cells != nil {
		if err := os.WriteFile(filepath.Join(dir, "cells.lib"), cells, 0o600); err != nil {
			return err
		}
	}
	if err := execute(ctx, yosys, dir, script(u, names, cells != nil)); err != nil {
		if cells != nil && ctx.Err() == nil {
			err = fmt.Errorf("--liberty %s: the library needs a flip-flop with an asynchronous reset, and delays as tables\n%w",
				liberty, err)
		}
		return err
	}
	return m.read(dir, u, cells != nil)
}

// script has the commands of Yosys: it counts memories before they become black boxes, and maps the rest two or three
// times.
func script(u rtl.Unit, names []string, liberty bool) string {
	lines := []string{
		"read_verilog -sv -defer -noassert " + strings.Join(names, " "),
		"hierarchy -check -top " + u.Top + u.Chparams(),
	}
	if name := u.Elsewhere(); name != "" {
		lines = append(lines, "blackbox *"+name+"*")
	}
	lines = append(lines,
		"proc", "opt", "tee -q -o memories.txt stat",
		"blackbox *"+u.Top+"_ram*",
		"techmap", "opt -fast", "design -save mapped",
		"abc -lut 6", "opt_clean", "tee -q -o luts.txt stat",
		"design -load mapped", "dfflegalize -cell $_DFF_P_ 01 -cell $_DFF_PN?_ 01 -cell $_DFFE_PP_ 01 -cell $_DFFE_PN?P_ 01",
		"abc -g simple", "opt_clean", "tee -q -o gates.txt stat",
	)
	if liberty {
		lines = append(lines, "design -load mapped", "read_liberty -lib cells.lib", "dfflibmap -liberty cells.lib",
			"abc -liberty cells.lib", "opt_clean", "tee -q -o cells.txt stat -liberty cells.lib")
	}
	return strings.Join(lines, "\n") + "\n"
}

func execute(ctx context.Context, yosys, dir, script string) error {
	if err := os.WriteFile(filepath.Join(dir, "area.ys"), []byte(script), 0o600); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, yosys, "-q", "-s", "area.ys")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fmt.Errorf("yosys: %w\n%s", err, bytes.TrimSpace(out))
	}
	return nil
}
