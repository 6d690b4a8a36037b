package cmd

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"heddle/components/accel"
	"heddle/configs"
	"heddle/graph"
	"heddle/graphit"
	"heddle/graphit/cextern"
	"heddle/graphit/cpu"
	"heddle/graphit/graphir"
	"heddle/graphit/lower"
	"heddle/graphit/programs"
	"heddle/kernels/host"
	"heddle/kernels/schedule"
	"heddle/kernels/workload"
)

func newGt() *cobra.Command {
	c := &cobra.Command{
		Use:   "gt",
		Short: "Run, build, check, show and format GraphIt programs",
		Long: `Run, build, check, show and format GraphIt programs: an algorithm, and its schedule
after "schedule:" or in a file of its own (GraphIt, OOPSLA 2018; UGF's schedules for
GPUs). Extern functions are GraphIt's, in a file of their own.`,
	}
	c.AddCommand(newGtRun(), newGtBuild(), newGtShow(), newGtCheck(), newGtFmt(), newGtList(), newGtSurvey())
	return c
}

// readSource reads a program or a schedule of limited size.
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

// readProgram reads and checks a program, from a file or a shipped one by its name. A schedule replaces that of the
// program, and extern is a file with its extern functions; "": the one beside it, if there is one.
func readProgram(name, schedule, extern string) (*graphit.File, error) {
	f, err := parseProgram(name, schedule)
	if err != nil {
		return nil, err
	}
	if err := linkExterns(f, extern); err != nil {
		return nil, err
	}
	return f, graphit.Check(f)
}

// linkExterns gives a program's extern functions their bodies: of a file, of one that heddle has, or of the one beside
// the program.
func linkExterns(f *graphit.File, extern string) error {
	if !slices.ContainsFunc(f.Funcs, func(fn *graphit.Func) bool { return fn.Extern }) {
		if extern != "" {
			return fmt.Errorf("--extern %s: %s has no extern functions", extern, f.Name)
		}
		return nil
	}
	name := extern
	if name == "" {
		name = graphit.ExternFile(f.Name)
		if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
			name = strings.TrimSuffix(name, ".gt") + ".c"
		}
		if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
			return nil // Check names the expectation
		}
	}
	switch filepath.Ext(name) {
	case ".cc", ".cpp", ".cxx", ".go":
		return fmt.Errorf("--extern %s: extern functions are GraphIt's or C's (FILE.c, compiled with "+
			"riscv64-unknown-elf-gcc), or Go functions that a program of yours adds (heddle.WithExtern)", name)
	case ".c":
		src, err := programs.Extern(name)
		if err != nil {
			src, err = readSource(name)
		}
		if err != nil {
			return err
		}
		return cextern.Compile(context.Background(), f, name, src)
	}
	src, err := programs.Extern(name)
	if err != nil {
		src, err = readSource(name)
	}
	if err != nil {
		return err
	}
	with, err := graphit.Parse(name, src)
	if err != nil {
		return err
	}
	return f.Link(with)
}

// parseProgram reads a program, and a schedule that replaces its own.
func parseProgram(name, schedule string) (*graphit.File, error) {
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
	return f, nil
}

func newGtCheck() *cobra.Command {
	var k gtCheck
	c := &cobra.Command{
		Use:   "check FILE...",
		Short: "Check programs and their schedules",
		Long: `Check programs and report errors by file, line and column: syntax, names, types,
schedules and their labels, and operations that the machine lacks. It refuses the programs
that heddle gt run refuses before it begins, whatever the graph and the arguments are, on
a machine with the graph units that the schedule asks for if none is given, and prints
nothing for a correct program.`,
		Example: "  heddle gt check bfs.gt\n  heddle gt check bfs.gt --schedule hybrid.gt\n  heddle gt check pr.gt " +
			"--cpu",
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			var errs []error
			for _, name := range args {
				errs = append(errs, pointed(k.check(name)))
			}
			return errors.Join(errs...)
		},
	}
	fl := c.Flags()
	fl.StringVar(&k.schedule, "schedule", "", "a `file` with the schedule, in place of the program's own")
	externFlag(c, &k.extern)
	fl.StringVar(&k.machine, "machine", "", "check for this timed machine: a preset's `name` or a YAML file")
	fl.StringArrayVar(&k.workload, "workload", nil,
		"how operators without a schedule run: a key of workload, `key=value` (may be repeated)")
	fl.BoolVar(&k.float, "float", false, "compute double as float, which is faster: doubles are computed in software")
	fl.BoolVar(&k.cpu, "cpu", false, "check for the host's own processors")
	return c
}

// externFlag adds the flag that names the file with a program's extern functions.
func externFlag(c *cobra.Command, to *string) {
	c.Flags().StringVar(to, "extern", "", "a `file` with the extern functions, in GraphIt or in C (else NAME.extern.gt "+
		"or NAME.extern.c beside the program)")
}

// gtCheck holds the flags of heddle gt check: those of gt run that affect which programs are refused.
type gtCheck struct {
	schedule string
	extern   string
	machine  string
	workload []string
	float    bool
	cpu      bool
}

// check performs the checks of gt run that need no graph.
func (k *gtCheck) check(name string) error {
	if k.cpu && (k.machine != "" || len(k.workload) > 0) {
		return errors.New("choose one: --cpu, or --machine and --workload, which are for simulated machines")
	}
	f, err := readProgram(name, k.schedule, k.extern)
	if err != nil {
		return err
	}
	return k.checked(f)
}

// checked performs those of a program that has been read.
func (k *gtCheck) checked(f *graphit.File) error {
	if k.cpu {
		p, err := cpu.Build(f, nil)
		if err == nil {
			_, err = cpu.Generate(p, k.float)
		}
		return err
	}
	w, err := operatorWorkload(k.workload)
	if err != nil {
		return err
	}
	p, err := lower.BuildAny(f, nil, k.float)
	if err != nil {
		return err
	}
	d, err := k.device(p, &w)
	if err != nil {
		return err
	}
	g, err := graph.Read("any", strings.NewReader("0 1 1\n1 2 1\n2 0 1\n"), graph.ReadOptions{})
	if err != nil {
		return err
	}
	return lower.Check(d, g, f, lower.Options{Float: k.float, Workload: w, HostOnly: true})
}

// device returns the requested machine, or a small one with the unit that the schedules need.
func (k *gtCheck) device(p *graphir.Program, w *workload.Workload) (*host.Rehearsal, error) {
	const small = "vortex-1c4w4t"
	l, err := configs.LoadMachine(cmp.Or(k.machine, small), os.Environ(), nil)
	if err != nil {
		return nil, err
	}
	if k.machine == "" {
		for _, name := range lower.Schedules(p, w.Schedule) {
			if s, err := schedule.ByName(string(name)); err == nil && s.Unit != nil {
				l.Value.Core.Unit.Spec = configs.DefaultUnit(accel.KindNamed(s.UnitName()))
			}
		}
	}
	return host.NewRehearsal(&l.Value)
}

func newGtFmt() *cobra.Command {
	var write, list bool
	c := &cobra.Command{
		Use:   "fmt FILE...",
		Short: "Format programs and schedules",
		Long: `Format programs and schedules: four spaces a block, one space around operators, at most
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

// writable returns an error if a file cannot be created, before there is anything to write: its name is that of a
// directory, or its directory does not exist.
func writable(flag, to string) error {
	if i, err := os.Stat(to); err == nil && i.IsDir() || os.IsPathSeparator(to[len(to)-1]) {
		return fmt.Errorf("%s %s: is a directory: expected the name of a file", flag, to)
	}
	if i, err := os.Stat(filepath.Dir(to)); err != nil || !i.IsDir() {
		return fmt.Errorf("%s %s: there is no directory %s", flag, to, filepath.Dir(to))
	}
	return nil
}
