// Command peers runs the micro-programs of isa/micro on heddle and, interleaved with it, on Vortex's own simulators
// that the user has built, and prints processor seconds, cycles and the error against the RTL in one table.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"heddle/internal/commits"
	"heddle/isa"
	"heddle/isa/micro"
	"heddle/sim/parity"
)

const usage = `usage: go run ./tools/peers [flags] FOLDER

FOLDER holds the simulators, an executable for each machine, as their machine is compiled in:
simx-MACHINE and rtlsim-MACHINE, with MACHINE of heddle validate (w1, a, c, d, m6, …), which Vortex
builds as sim/simx/simx and sim/rtlsim/rtlsim. Each is run as "simx-MACHINE PROGRAM.bin", the program
a flat image to load at 0x80000000. One of the two suffices; without rtlsim the RTL's cycles are those
recorded in isa/micro. Their cycles are those that they print; as built by Vortex they print none, but
leave them in ramulator.stats.log, as the cycles of a memory that runs at the cores' clock. Those of
rtlsim include a few from before the cores start (8 on w1 and a), which the recorded ones do not.
`

type options struct {
	folder           string
	programs, cycles *regexp.Regexp
	pairs            int
	longer           int64
	limit            time.Duration
}

func main() {
	var o options
	programs := flag.String("run", "", "run only the micro-programs whose names match this `regexp`")
	cycles := flag.String("cycles", `cycles *[=:]? *(\d+)`, "how the simulators give their cycles: a `regexp` with "+
		"one group, whose last match in what they print counts, or else in ramulator.stats.log")
	flag.IntVar(&o.pairs, "pairs", 3, "how many `times` each is run, in turn; seconds are the medians")
	flag.Int64Var(&o.longer, "longer", 1, "run this many `times` the programs' iterations: the more, the less of the "+
		"seconds is start-up; above 1 the RTL's recorded cycles do not apply")
	flag.DurationVar(&o.limit, "limit", time.Hour, "the longest that one run may take")
	flag.Usage = func() { fmt.Fprint(flag.CommandLine.Output(), usage, "\n"); flag.PrintDefaults() }
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := o.parse(flag.Args(), *programs, *cycles)
	if err == nil {
		err = o.main(ctx, "", os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(2)
	}
}

func (o *options) parse(args []string, programs, cycles string) (err error) {
	if len(args) != 1 || o.pairs < 1 || o.longer < 1 {
		return errors.New("expected one folder with simulators, and --pairs and --longer of at least 1 (--help)")
	}
	o.folder = args[0]
	if o.programs, err = regexp.Compile(programs); err != nil {
		return fmt.Errorf("--run: %w", err)
	}
	if o.cycles, err = regexp.Compile(cycles); err != nil {
		return fmt.Errorf("--cycles: %w", err)
	}
	if n := o.cycles.NumSubexp(); n != 1 {
		return fmt.Errorf("--cycles %q: %d groups in parentheses: expected one, the number", cycles, n)
	}
	return nil
}

// main finds the simulators, builds heddle, unless a program is given, and prints the table.
func (o *options) main(ctx context.Context, program string, w io.Writer) error {
	peers, err := o.peers()
	if err != nil {
		return err
	}
	root, err := commits.Root(ctx)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "peers-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if program == "" {
		if program, err = commits.Build(ctx, root, dir); err != nil {
			return err
		}
	}
	b := bench{options: o, peers: peers, heddle: program, root: root, dir: dir}
	return b.table(ctx, w)
}

// simulators are the kinds of simulators in the folder, in the order in which they follow heddle.
var simulators = [...]string{"simx", "rtlsim"}

// peers returns the simulators' files by machine; a missing one is empty.
func (o *options) peers() (map[string][2]string, error) {
	found := map[string][2]string{}
	for _, m := range parity.Machines {
		var files [2]string
		for i, kind := range simulators {
			path, err := filepath.Abs(filepath.Join(o.folder, kind+"-"+m))
			if err != nil {
				return nil, err
			}
			info, err := os.Stat(path)
			if err != nil {
				continue
			}
			if !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
				return nil, fmt.Errorf("%s: expected an executable file (chmod +x)", path)
			}
			files[i] = path
		}
		if files != [2]string{} {
			found[m] = files
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%s: holds no simulator: expected executables named simx-MACHINE or rtlsim-MACHINE, with "+
			"MACHINE one of %s", o.folder, strings.Join(parity.Machines, ", "))
	}
	return found, nil
}

// bench runs heddle and its peers.
type bench struct {
	*options
	peers     map[string][2]string
	heddle    string
	root, dir string
}

// result is one simulator's run of a program.
type result struct {
	seconds float64 // median
	cycles  uint64  // 0: not run
}

// table prints a row for each program on each machine that has a peer. A program that fails has none, and does not stop
// the others.
func (b *bench) table(ctx context.Context, w io.Writer) (failed error) {
	fmt.Fprintf(w, "%-8s%-13s %5s %8s%8s%8s %6s%6s %9s%9s%9s %7s%7s\n%-27s %24s %12s %27s %14s\n", "machine", "program",
		"iters", "heddle", "SimX", "RTL", "SimX", "RTL", "heddle", "SimX", "RTL", "heddle", "SimX",
		"", "processor seconds", "÷ heddle's", "cycles", "error, %")
	rows := 0
	for _, ref := range micro.References() {
		if _, ok := b.peers[ref.Machine]; !ok || !b.programs.MatchString(ref.Program) {
			continue
		}
		rows++
		if b.longer > 1 {
			ref.Iters, ref.RTL = b.longer*ref.Iters, 0
		}
		got, err := b.row(ctx, ref)
		if ctx.Err() != nil {
			return errors.Join(failed, ctx.Err())
		}
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s on %s: %w", ref.Program, ref.Machine, err))
			continue
		}
		write(w, ref, got)
	}
	if rows == 0 {
		return fmt.Errorf("--run %s: no micro-program of these machines has such a name", b.programs)
	}
	return failed
}

// write prints a row. The RTL's cycles are those of rtlsim, or else the recorded ones; 0: neither.
func write(w io.Writer, ref micro.Reference, got [3]result) {
	rtl := got[2].cycles
	if rtl == 0 {
		rtl = ref.RTL
	}
	none := [3]string{"–", "–", "–"}
	seconds, ratio, cycles, off := none, none, none, none
	if rtl != 0 {
		cycles[2] = fmt.Sprint(rtl)
	}
	for i, r := range got {
		if r.cycles == 0 {
			continue
		}
		seconds[i], cycles[i] = fmt.Sprintf("%.3f", r.seconds), fmt.Sprint(r.cycles)
		if i > 0 {
			ratio[i] = fmt.Sprintf("%.1f", r.seconds/max(got[0].seconds, 1e-3))
		}
		if i < 2 && rtl != 0 {
			off[i] = fmt.Sprintf("%+.1f", 100*(float64(r.cycles)/float64(rtl)-1))
		}
	}
	fmt.Fprintf(w, "%-8s%-13s %5d %8s%8s%8s %6s%6s %9s%9s%9s %7s%7s\n", ref.Machine, ref.Program, ref.Iters, seconds[0],
		seconds[1], seconds[2], ratio[1], ratio[2], cycles[0], cycles[1], cycles[2], off[0], off[1])
}

// heddleCycles is how heddle exec --json prints its cycles.
var heddleCycles = regexp.MustCompile(`"cycles": *(\d+)`)

// row runs a program on heddle and on the machine's simulators, in turn.
func (b *bench) row(ctx context.Context, ref micro.Reference) (got [3]result, err error) {
	commands, err := b.commands(ref)
	if err != nil {
		return got, err
	}
	var seconds [3][]float64
	for range b.pairs {
		for i, command := range commands {
			if command == nil {
				continue
			}
			pattern := b.cycles
			if i == 0 {
				pattern = heddleCycles
			}
			r, err := b.run(ctx, command, pattern)
			if err != nil {
				return got, err
			}
			if was := got[i].cycles; was != 0 && was != r.cycles {
				return got, fmt.Errorf("%s: %d cycles, and %d before: expected the same in each run", command[0], r.cycles, was)
			}
			seconds[i], got[i] = append(seconds[i], r.seconds), r
		}
	}
	for i, s := range seconds {
		if len(s) > 0 {
			slices.Sort(s)
			got[i].seconds = s[len(s)/2]
		}
	}
	return got, nil
}

// commands returns the command lines of heddle and of the machine's simulators.
func (b *bench) commands(ref micro.Reference) (all [3][]string, err error) {
	p, err := micro.Program(ref.Program, ref.Iters)
	if err != nil {
		return all, err
	}
	text, err := micro.Source(ref.Program)
	image, source := filepath.Join(b.dir, ref.Program+".bin"), filepath.Join(b.dir, ref.Program+".s")
	err = errors.Join(err, os.WriteFile(source, text, 0o644), os.WriteFile(image, flat(p), 0o644))
	machine, preset := parity.Preset(ref.Machine)
	if !preset {
		machine = filepath.Join(b.root, "sim", "parity", "machines", ref.Machine+".yaml")
	}
	all[0] = []string{b.heddle, "exec", source, "-D", fmt.Sprint("ITERS=", ref.Iters), "--machine", machine, "--json"}
	for i, peer := range b.peers[ref.Machine] {
		if peer != "" {
			all[i+1] = []string{peer, image}
		}
	}
	return all, err
}

// statistics is the file that Vortex's simulators leave where they run.
const statistics = "ramulator.stats.log"

// run runs a command, and returns its processor seconds and the last number of cycles that it prints, or leaves in its
// statistics if it prints none.
func (b *bench) run(ctx context.Context, command []string, pattern *regexp.Regexp) (result, error) {
	ctx, stop := context.WithTimeout(ctx, b.limit)
	defer stop()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir = b.dir
	var out tail
	cmd.Stdout, cmd.Stderr = &out, &out
	left := filepath.Join(b.dir, statistics)
	err := errors.Join(os.RemoveAll(left), cmd.Run())
	if ctx.Err() == context.DeadlineExceeded {
		return result{}, fmt.Errorf("%s: no end after %s (--limit)", command[0], b.limit)
	}
	if err != nil {
		return result{}, fmt.Errorf("%s: %w\n%s", strings.Join(command, " "), err, strings.TrimSpace(string(out)))
	}
	found := pattern.FindAllSubmatch(out, -1)
	if found == nil {
		// without the file, the error below says what is missing
		text, _ := os.ReadFile(left)
		found = pattern.FindAllSubmatch(text, -1)
	}
	if found == nil {
		return result{}, fmt.Errorf("%s: neither its output nor %s has cycles: expected a match of %s (--cycles)\n%s",
			strings.Join(command, " "), statistics, pattern, strings.TrimSpace(string(out)))
	}
	n, err := strconv.ParseUint(string(found[len(found)-1][1]), 10, 64)
	if err != nil || n == 0 {
		return result{}, fmt.Errorf("%s: %q: expected a number of cycles (--cycles)", command[0], found[len(found)-1][0])
	}
	return result{(cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(), n}, nil
}

// tail keeps the end of the text written to it: a simulator that traces may print without end.
type tail []byte

const tailBytes = 1 << 16

func (t *tail) Write(p []byte) (int, error) {
	*t = append(*t, p...)
	if n := len(*t) - tailBytes; n > tailBytes {
		*t = append((*t)[:0], (*t)[n:]...)
	}
	return len(p), nil
}

// flat returns a program's memory image from its entry on, where the simulators load it.
func flat(p *isa.Program) (image []byte) {
	for _, s := range p.Segments {
		if len(s.Data) > 0 {
			image = append(image, make([]byte, int(s.Addr-p.Entry)-len(image))...)
			image = append(image, s.Data...)
		}
	}
	return image
}
