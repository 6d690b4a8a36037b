package cmd

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"heddle/internal/files"
	"heddle/internal/fit"
	"heddle/isa"
	"heddle/isa/elf"
)

func newAsm() *cobra.Command {
	var f programFlags
	var out string
	c := &cobra.Command{
		Use:   "asm FILE.s",
		Short: "Assemble a program",
		Long: `Assemble a program in GNU syntax. The output is an ELF executable, or a flat
image when its name ends in .bin.`,
		Example: `  heddle asm kernel.s                    # writes kernel.elf
  heddle asm kernel.s -o kernel.bin -D ITERS=100`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if !strings.EqualFold(filepath.Ext(args[0]), ".s") {
				return fmt.Errorf("%s: expected assembly (.s)", args[0])
			}
			p, err := f.read(args[0])
			if err != nil {
				return err
			}
			if out == "" {
				out = strings.TrimSuffix(args[0], filepath.Ext(args[0])) + ".elf"
			}
			return writeProgram(out, p)
		},
	}
	c.Flags().StringVarP(&out, "output", "o", "", "output `file` (default: the input's name with .elf)")
	f.add(c)
	return c
}

func writeProgram(path string, p *isa.Program) error {
	var b bytes.Buffer
	if filepath.Ext(path) != ".bin" {
		if err := elf.Write(&b, p); err != nil {
			return err
		}
		return files.Write(path, b.Bytes())
	}
	if p.Entry != p.Segments[0].Addr {
		return errors.New("a flat image is entered at its start, and _start is not there; write .elf instead")
	}
	for _, s := range p.Segments {
		if len(s.Data) == 0 {
			continue // memory is zero anyway
		}
		b.Write(make([]byte, int(s.Addr-p.Entry)-b.Len()))
		b.Write(s.Data)
	}
	return files.Write(path, b.Bytes())
}

func newDisasm() *cobra.Command {
	var f programFlags
	c := &cobra.Command{
		Use:   "disasm PROGRAM",
		Short: "Disassemble a program",
		Long: `Disassemble the executable segments of an ELF file, an assembly source or a
flat image. The output can be assembled again.`,
		Example: "  heddle disasm kernel.elf",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			p, err := f.read(args[0])
			if err != nil {
				return err
			}
			b := bufio.NewWriter(c.OutOrStdout())
			defer b.Flush()
			for _, s := range p.Segments {
				if s.Executable {
					disassemble(b, p, s)
				}
			}
			return nil
		},
	}
	f.add(c)
	return c
}

func disassemble(b *bufio.Writer, p *isa.Program, s isa.Segment) {
	for o := 0; o+4 <= len(s.Data); o += 4 {
		pc := s.Addr + uint32(o)
		if names := p.At(pc); len(names) > 0 {
			fmt.Fprintf(b, "%s:\n", names[len(names)-1])
		}
		w := binary.LittleEndian.Uint32(s.Data[o:])
		fmt.Fprintf(b, "  %-36s # %08x: %08x\n", isa.Disassemble(w, pc), pc, w)
	}
}

func newISA() *cobra.Command {
	var markdown bool
	c := &cobra.Command{
		Use:     "isa [INSTRUCTION…]",
		Short:   "Describe the instruction set",
		Example: "  heddle isa\n  heddle isa split weaver.dec.id\n  heddle isa --markdown > docs/reference/isa.md",
		RunE: func(c *cobra.Command, args []string) error {
			out := c.OutOrStdout()
			if markdown {
				fmt.Fprint(out, isa.Markdown())
				return nil
			}
			rows := isa.All()
			if len(args) > 0 {
				rows = nil
			}
			for _, name := range args {
				r := isa.Lookup(name)
				if r == nil {
					return fmt.Errorf("unknown instruction %q (heddle isa lists all)", name)
				}
				rows = append(rows, r)
			}
			var b strings.Builder
			for _, r := range rows {
				fmt.Fprintf(&b, "%-9s  %-16s  %-24s  %s\n", r.Ext.Name, r.Name, r.Format, r.Doc)
			}
			return fit.Print(out, b.String())
		},
	}
	c.Flags().BoolVar(&markdown, "markdown", false, "print docs/reference/isa.md")
	return c
}
