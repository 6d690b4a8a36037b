package cmd

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"heddle/graphit"
	"heddle/graphit/cpu"
	"heddle/graphit/programs"
	"heddle/internal/files"
)

func newGt() *cobra.Command {
	c := &cobra.Command{
		Use:   "gt",
		Short: "GraphIt programs: run, build, show, check and lay out",
		Long: `GraphIt programs: an algorithm, and behind "schedule:" or in a file of its own how
it runs (GraphIt, OOPSLA 2018; UGF's schedules for GPUs). There are no extern
functions, no functors (functions with parameters in []), and no par_for.`,
	}
	c.AddCommand(newGtRun(), newGtBuild(), newGtShow(), newGtCheck(), newGtFmt(), newGtList())
	return c
}

// readSource reads a program or a schedule, which is not larger than one may be.
func readSource(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	src, err := io.ReadAll(io.LimitReader(f, graphit.MaxBytes+1))
	if err != nil {
		return nil, err
	}
	return src, nil
}

// readProgram reads a program, a file or one of heddle's own by its name, and checks it. A schedule beside it takes the
// place of the program's own.
func readProgram(name, schedule string) (*graphit.File, error) {
	src, err := programs.Source(name)
	if err != nil {
		src, err = readSource(name)
	}
	if err != nil {
		return nil, err
	}
	f, err := graphit.Parse(name, src)
	if err != nil {
		return nil, err
	}
	if schedule != "" {
		if src, err = readSource(schedule); err != nil {
			return nil, err
		}
		if f.Schedule, err = graphit.ParseSchedule(schedule, src); err != nil {
			return nil, err
		}
	}
	return f, graphit.Check(f)
}

func newGtCheck() *cobra.Command {
	var schedule string
	c := &cobra.Command{
		Use:   "check FILE...",
		Short: "Say what is wrong with programs: syntax, names, types",
		Long: `Say what is wrong with programs, by file, line and column: syntax, names, types, and
the words of schedules. It says nothing of a program that is right.`,
		Example: "  heddle gt check bfs.gt\n  heddle gt check bfs.gt --schedule hybrid.gt",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			var errs []error
			for _, name := range args {
				_, err := readProgram(name, schedule)
				errs = append(errs, err)
			}
			return errors.Join(errs...)
		},
	}
	c.Flags().StringVar(&schedule, "schedule", "", "a `file` with the schedule, in place of the program's own")
	return c
}

func newGtFmt() *cobra.Command {
	var write, list bool
	c := &cobra.Command{
		Use:   "fmt FILE...",
		Short: "Lay out programs and schedules: indentation, spaces, empty lines",
		Long: `Lay out programs and schedules: four spaces a block, one space around operators, at most
one empty line. Lines and comments stay. The result goes to stdout, or with -w
into the file. With -l it prints the names of files that are laid out
otherwise, and exits with 1 if there are any.`,
		Example: "  heddle gt fmt bfs.gt\n  heddle gt fmt -w *.gt\n  heddle gt fmt -l *.gt",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if write && list {
				return errors.New("choose one: -w or -l")
			}
			others := 0
			for _, name := range args {
				src, err := readSource(name)
				if err != nil {
					return err
				}
				out, err := graphit.Format(name, src)
				switch {
				case err != nil:
					return err
				case !write && !list:
					if _, err := c.OutOrStdout().Write(out); err != nil {
						return err
					}
				case bytes.Equal(src, out):
				case list:
					others++
					fmt.Fprintln(c.OutOrStdout(), name)
				default:
					if err := os.WriteFile(name, out, 0o644); err != nil {
						return err
					}
				}
			}
			if others > 0 {
				return &codeError{code: exitFailed}
			}
			return nil
		},
	}
	c.Flags().BoolVarP(&write, "write", "w", false, "write the result into the file")
	c.Flags().BoolVarP(&list, "list", "l", false, "list files that are laid out otherwise")
	return c
}

func newGtBuild() *cobra.Command {
	var schedule, to string
	var onCPU, swarm, float bool
	c := &cobra.Command{
		Use:   "build FILE --cpu -o OUTPUT",
		Short: "Compile a program for the host's own processors: to Go, or to an executable file",
		Long: `Compile a GraphIt program for processors like the host's own: to a program in Go that
imports only the standard library, if OUTPUT ends in .go, and else, with the Go
toolchain, to an executable file. FILE is a file, or a program of heddle gt list.

The program takes a graph as an .hgr file (heddle graph convert), and then its own
arguments; -threads says on how many processors it runs, -help what else there is.`,
		Example: "  heddle gt build bfs --cpu -o bfs.go\n  heddle gt build pr.gt --cpu --schedule pull.gt -o pr\n  heddle graph convert facebook_combined fb.hgr && ./pr -threads 2 fb.hgr 20",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case swarm:
				return errSwarm
			case !onCPU:
				return errors.New("expected --cpu: what runs on a simulated machine is compiled when it runs (heddle gt run)")
			case to == "":
				return errors.New("expected -o FILE: a .go file, or an executable one")
			}
			f, err := readProgram(args[0], schedule)
			if err != nil {
				return err
			}
			p, err := cpu.Build(f, nil)
			if err != nil {
				return err
			}
			notesOn(c.ErrOrStderr(), f, p, true)
			src, err := cpu.Generate(p, float)
			if err != nil {
				return err
			}
			if strings.HasSuffix(to, ".go") {
				return failed(files.Write(to, src))
			}
			path, err := filepath.Abs(to)
			if err == nil {
				err = cpu.Compile(c.Context(), src, path)
			}
			return failed(err)
		},
	}
	fl := c.Flags()
	fl.BoolVar(&onCPU, "cpu", false, "for processors like the host's own")
	fl.StringVarP(&to, "output", "o", "", "the `file` to write: Go if it ends in .go, and else an executable file")
	fl.StringVar(&schedule, "schedule", "", "a `file` with the schedule, in place of the program's own")
	fl.BoolVar(&float, "float", false, "compute double as float")
	fl.BoolVar(&swarm, "swarm", false, "refused: there is no backend for Swarm")
	fl.MarkHidden("swarm") //nolint:errcheck // it is there
	return c
}
