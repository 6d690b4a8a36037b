// Package kernels holds the hand-written programs of kernels/asm. (They are not
// beside Go code of their own: Go would take them for its assembler's.)
package kernels

import (
	"embed"
	"fmt"
	"strings"

	"heddle/isa"
	"heddle/isa/asm"
)

//go:embed asm/*.s
var sources embed.FS

// Names returns the programs' names, sorted.
func Names() []string {
	files, err := sources.ReadDir("asm")
	if err != nil {
		panic(fmt.Sprintf("BUG: kernels: %v", err))
	}
	var names []string
	for _, f := range files {
		names = append(names, strings.TrimSuffix(f.Name(), ".s"))
	}
	return names
}

// Source returns a program's text.
func Source(name string) ([]byte, error) { return sources.ReadFile("asm/" + name + ".s") }

// Assemble translates a program, to be loaded at base, with those symbols defined.
func Assemble(name string, base uint32, defines ...string) (*isa.Program, error) {
	src, err := Source(name)
	if err != nil {
		return nil, fmt.Errorf("no program %q: expected one of %s", name, strings.Join(Names(), ", "))
	}
	opt := asm.Options{Base: base, Defines: map[string]int64{}}
	for _, d := range defines {
		opt.Defines[d] = 1
	}
	return asm.Assemble(name+".s", src, opt)
}
