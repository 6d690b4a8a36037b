// Package cmd is the command line of heddle: its commands, their flags and their output. cmd/heddle is the command;
// a program of your own that adds parts of its own to heddle calls Main too.
package cmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	_ "heddle" // has the sources by which points are known (version.Model)
	"heddle/components/accel"
	"heddle/experiment"
	"heddle/experiment/store"
	"heddle/internal/files"
	"heddle/internal/fit"
	"heddle/internal/plain"
	"heddle/internal/registry"
	"heddle/internal/resources"
	"heddle/internal/version"
	"heddle/isa/emu"
	"heddle/sim"
	"heddle/sim/inspect"
	"heddle/sim/window"
)

// Exit codes, for all commands.
const (
	exitOK = 0
	// the program failed: trap, or an exit code other than 0; or the simulator did: a violated invariant
	exitFailed      = 1
	exitUsage       = 2 // the command line or an input file is wrong
	exitNoProgress  = 3 // deadlock, or a limit was reached
	exitStatement   = 4 // reproduce --strict: a published statement does not hold
	exitStopped     = 5 // exec and look: --break or --at-cycle stopped the run
	exitInterrupted = 130
)

const exitHelp = `Exit codes: 0 done; 1 the program failed (trap, or it returned another code than
0), or --check found a violated invariant, or a file system is full or fails; 2 wrong command line or input; 3 no
progress (deadlock) or limit reached; 130 interrupted.`

// codeError is an error with its exit code.
type codeError struct {
	code int
	err  error // nil: the message has been printed
}

func (e *codeError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *codeError) Unwrap() error { return e.err }

// failed adds the exit code to an error of a run.
func failed(err error) error {
	var trap *emu.Trap
	switch {
	case err == nil:
		return nil
	case errors.As(err, new(*inspect.Stopped)):
		return &codeError{exitStopped, err}
	case errors.As(err, new(*window.WriteError)), ofTheHost(err):
		return &codeError{exitFailed, err}
	case errors.As(err, &trap), errors.As(err, new(*accel.Fault)), errors.As(err, new(*sim.InvariantsError)):
		return &codeError{exitFailed, err}
	case errors.As(err, new(*emu.LimitError)), errors.As(err, new(*emu.DeadlockError)),
		slices.Contains([]string{experiment.NoProgress, experiment.Limit, experiment.OutOfMemory},
			experiment.Class(err)):
		return &codeError{exitNoProgress, err}
	case errors.Is(err, context.Canceled):
		return &codeError{exitInterrupted, errors.New("interrupted")}
	}
	return &codeError{exitUsage, err}
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "heddle",
		Short: "Cycle-level simulator of a SIMT GPU for graph processing",
		Long: `heddle simulates a Vortex-like RISC-V SIMT GPU running graph kernels, with
graph-processing hardware units plugged into its cores.

` + exitHelp,
		Version:       version.Line(),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	fitTables(root)
	fitHelp(root)
	root.SetVersionTemplate("heddle {{.Version}}\n")
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(newRun(), newReproduce(), newResults(), newExplain(), newReport(), newFigure(), newExec(),
		newConfig(), newStats(), newValidate(), newAsm(), newDisasm(), newISA(), newGraph(), newKernel(), newTrace(),
		newInspect(),
		newGt(), newCLI(), newMan(), newTune(), newArea(), newEnergy())
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	refuseUnknown(root)
	complete(root, root.Name())
	return root
}

// mostColumns bounds the width of tables.
const mostColumns = 10_000

// fitTables sets the width of tables: --columns, or that of the terminal; unlimited if the output is not a terminal.
func fitTables(root *cobra.Command) {
	columns := root.PersistentFlags().Int("columns", 0,
		"width of tables; 0: as wide as it takes (default: the terminal's)")
	root.PersistentFlags().Lookup("columns").DefValue = "0"
	root.PersistentPreRunE = func(c *cobra.Command, _ []string) error {
		if !root.PersistentFlags().Changed("columns") { // results table has a flag of its own with that name
			return nil
		}
		if *columns < 0 || *columns > mostColumns {
			return fmt.Errorf("--columns %d: expected 0..%d", *columns, mostColumns)
		}
		root.SetOut(fit.Writer{Writer: root.OutOrStdout(), Columns: *columns})
		return nil
	}
}

// refuseUnknown makes an unknown subcommand of a group an error, where cobra would print the group's help and exit with
// code 0. Without a subcommand, the help is printed.
func refuseUnknown(root *cobra.Command) {
	for _, c := range root.Commands() {
		if c.Name() == "help" {
			c.Args, c.Run, c.RunE = nil, nil, help
		}
		if c.HasSubCommands() && !c.Runnable() {
			c.Args, c.RunE = onlyCommands, func(c *cobra.Command, _ []string) error { return c.Help() }
		}
		if c.Args != nil && !c.HasSubCommands() {
			c.Args = withUse(c.Args)
		}
		refuseUnknown(c)
	}
}

// withUse adds the usage line to cobra's errors about the number of arguments.
func withUse(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		err := check(c, args)
		if err != nil && (strings.Contains(err.Error(), "arg(s)") ||
			strings.HasPrefix(err.Error(), "unknown command")) {
			err = fmt.Errorf("%w: expected %s", err, c.UseLine())
		}
		return err
	}
}

// fitHelp sets the width of help to that of the terminal, or to --columns.
func fitHelp(root *cobra.Command) {
	show := root.HelpFunc()
	root.SetHelpFunc(func(c *cobra.Command, args []string) {
		out := c.OutOrStdout()
		columns := fit.Columns(out)
		if n, err := c.Flags().GetInt("columns"); err == nil && c.Flags().Changed("columns") {
			columns = n
		}
		var b bytes.Buffer
		c.SetOut(&b)
		show(c, args)
		c.SetOut(nil)
		fmt.Fprint(out, fit.Text(b.String(), columns))
	})
}

// onlyCommands returns an error for arguments of a group of commands.
func onlyCommands(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	return fmt.Errorf("unknown command %q for %q: expected one of %s", args[0], c.CommandPath(),
		strings.Join(names, ", "))
}

// help shows the help of the command that args name.
func help(c *cobra.Command, args []string) error {
	named, rest, err := c.Root().Find(args)
	if err == nil && named.HasSubCommands() {
		err = onlyCommands(named, rest)
	}
	if err != nil {
		return err
	}
	named.InitDefaultHelpFlag()
	return named.Help()
}

// Main registers entries of package heddle, executes the command line, and exits. An entry that cannot be registered
// ends the process with exit code 2.
func Main(entries ...registry.Entry) {
	if err := registry.Add(entries...); err != nil {
		os.Exit(conclude(os.Stderr, err))
	}
	if err := checkAddressSpace(resources.AddressSpace()); err != nil {
		os.Exit(conclude(os.Stderr, err))
	}
	newProcess().run(newRoot())
}

// leastAddressSpace is the address space that Go's runtime, with its reservations, and a small run map. With less, the
// runtime would abort the program at an arbitrary point.
const leastAddressSpace = 3 << 29

func checkAddressSpace(limit uint64, limited bool) error {
	if !limited || limit >= leastAddressSpace {
		return nil
	}
	return fmt.Errorf("the limit of the address space (ulimit -v) is %s: expected at least %s, most of which is "+
		"never used; --memory-limit of heddle run limits memory", experiment.Bytes(limit),
		experiment.Bytes(leastAddressSpace))
}

// run executes the command and returns the process's exit code.
func run(ctx context.Context, root *cobra.Command) int {
	return conclude(root.ErrOrStderr(), root.ExecuteContext(ctx))
}

// conclude prints an error, if there is one, and returns the exit code.
func conclude(stderr io.Writer, err error) int {
	if err == nil {
		return exitOK
	}
	err = canceled(err)
	if msg := err.Error(); msg != "" {
		fmt.Fprintln(stderr, "heddle:", plain.Lines(msg))
	}
	if advice := roomAdvice(err); advice != "" {
		fmt.Fprintln(stderr, "heddle:", plain.Lines(advice))
	}
	if ofTheHost(err) {
		return exitFailed // a full file system, whatever failed
	}
	var c *codeError
	if errors.As(err, &c) {
		return c.code
	}
	return exitUsage // errors of cobra
}

// ofTheHost reports whether a file could not be read or written for a reason other than its name.
func ofTheHost(err error) bool {
	for _, n := range []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EIO, syscall.EFBIG} {
		if errors.Is(err, n) {
			return true
		}
	}
	return store.Full(err)
}

// roomAdvice names the full file system and a remedy; "" for other errors.
func roomAdvice(err error) string {
	path, named := files.NamedIn(err)
	if !named || !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EDQUOT) && !store.Full(err) {
		return ""
	}
	room := files.Room(path)
	if room == "" {
		return ""
	}
	return room + ": make room there, or write elsewhere"
}

// canceled returns the error of a command that only an interrupt has ended.
func canceled(err error) error {
	if !errors.As(err, new(*codeError)) && errors.Is(err, context.Canceled) {
		return failed(err)
	}
	return err
}
