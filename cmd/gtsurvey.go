package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"heddle/graph"
	"heddle/graph/graphspec"
	"heddle/graphit"
	"heddle/graphit/eval"
	"heddle/graphit/lower"
	"heddle/graphit/programs"
	"heddle/internal/fit"
	"heddle/isa/emu"
	"heddle/kernels/host"
)

// gtSurvey holds the flags of heddle gt survey.
type gtSurvey struct {
	json     bool
	markdown bool
	float    bool
	draw     int
	seed     uint64
	limit    time.Duration
	match    string
	dir      string
	names    *regexp.Regexp
}

func newGtSurvey() *cobra.Command {
	f := gtSurvey{}
	c := &cobra.Command{
		Use:   "survey DIR",
		Short: "Check and run all programs of a folder, as of GraphIt's sources",
		Long: `Check all programs in a folder with GraphIt's sources, and run them on the functional
machine, with the check of all vectors that heddle gt run does. A program's graph is
the file that it names, looked for by name in the folder, or 4.wel with weights and
4.el without; further arguments are 1, 4, 2 and 3. Schedules in files of their own run
with the programs that the folder's tests (*.py) name together with them. Extern
functions are taken from a file beside the program (NAME.extern.gt), or are heddle's
own. A table goes to stdout, and below it why programs did not come further; --json
has the reasons in full, and --markdown is a table for each folder. With --draw, test_NAME.wel is the graph
of NAME.gt, if there is one.`,
		Example: "  heddle gt survey graphit\n  heddle gt survey graphit --match '^apps/' --json\n  " +
			"heddle gt survey graphit --markdown",
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, args[0]) },
	}
	fl := c.Flags()
	fl.BoolVar(&f.json, "json", false, "print the outcomes as JSON")
	fl.BoolVar(&f.markdown, "markdown", false, "print tables in Markdown, as at the end of docs/guide/graphit.md")
	fl.BoolVar(&f.float, "float", false, "compute double as float, which is faster: doubles are computed in software")
	fl.DurationVar(&f.limit, "limit", time.Minute, "time for one program, after which it counts as one that "+
		"does not run")
	fl.IntVar(&f.draw, "draw", 0, "run each program under so many schedules for GPUs, drawn for its labels, in place of "+
		"its own")
	fl.Uint64Var(&f.seed, "seed", 1, "with --draw: which schedules are drawn")
	fl.StringVar(&f.match, "match", "", "survey the programs whose names match this `expression`")
	return c
}

// surveyed is the outcome of a program, or of a program with a schedule of another file.
type surveyed struct {
	Program  string `json:"program"`
	Schedule string `json:"schedule,omitempty"`
	Parses   bool   `json:"parses"`
	Checks   bool   `json:"checks"`
	Runs     bool   `json:"runs"`
	Verified bool   `json:"verified"`
	Reason   string `json:"reason,omitempty"`
}

func (f *gtSurvey) run(c *cobra.Command, dir string) (err error) {
	if f.names, err = regexp.Compile(f.match); err != nil {
		return fmt.Errorf("--match: %w", err)
	}
	if f.limit <= 0 {
		return fmt.Errorf("--limit %s: expected more than 0", f.limit)
	}
	if f.draw < 0 || f.draw > 0 && f.markdown {
		return errors.New("--draw: expected a number of schedules, without --markdown")
	}
	f.dir = dir
	files, err := surveyFiles(dir)
	if err != nil {
		return err
	}
	if f.draw > 0 {
		return f.drawAll(c, files)
	}
	var list []surveyed
	for _, x := range f.subjects(files) {
		if name := x.Program + x.Schedule; !f.names.MatchString(name) {
			continue
		}
		if err := c.Context().Err(); err != nil {
			return failed(err)
		}
		f.survey(c.Context(), &x, files)
		list = append(list, x)
	}
	switch {
	case f.json && f.markdown:
		return errors.New("choose one: --json or --markdown")
	case f.json:
		return printJSON(c.OutOrStdout(), list)
	}
	if len(list) == 0 {
		return fmt.Errorf("%s: there are no programs (*.gt) here that --match keeps", dir)
	}
	if f.markdown {
		surveyMarkdown(c.OutOrStdout(), list)
		return nil
	}
	surveyTable(c.OutOrStdout(), list)
	return nil
}

// maxSources is the number of files that a survey looks at.
const maxSources = 4000

// surveyFiles returns the names of a folder's programs, graphs and tests, relative to it.
func surveyFiles(dir string) (files []string, err error) {
	if i, err := os.Stat(dir); err != nil || !i.IsDir() {
		return nil, fmt.Errorf("%s: expected a folder with GraphIt programs", dir)
	}
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && strings.HasPrefix(d.Name(), ".") && path != dir:
			return fs.SkipDir
		case !d.Type().IsRegular():
			return nil
		}
		name, err := filepath.Rel(dir, path)
		if err == nil && slices.Contains([]string{".gt", ".py", ".el", ".wel", ".mtx"}, filepath.Ext(name)) {
			files = append(files, filepath.ToSlash(name))
		}
		if len(files) > maxSources {
			return fmt.Errorf("%s: more than %d files: expected a folder with GraphIt's sources", dir, maxSources)
		}
		return err
	})
	return files, err
}

// subjects returns the programs of a folder, with the schedules that its tests name for them.
func (f *gtSurvey) subjects(files []string) (list []surveyed) {
	pairs := f.pairs(files)
	for _, name := range files {
		if filepath.Ext(name) != ".gt" || strings.HasSuffix(name, ".extern.gt") {
			continue
		}
		algorithms := pairs[path.Base(name)]
		if f.hasProgram(name) || len(algorithms) == 0 {
			list = append(list, surveyed{Program: name})
			continue
		}
		for _, a := range f.fitting(name, algorithms, files) {
			list = append(list, surveyed{Program: a, Schedule: name})
		}
	}
	return list
}

// fitting returns the files of the programs that tests name for a schedule: where these are several, those with a queue
// for a schedule of queues, and the others for others.
func (f *gtSurvey) fitting(schedule string, names, files []string) (list []string) {
	says := func(name, word string) bool {
		src, err := readSource(filepath.Join(f.dir, name))
		return err == nil && strings.Contains(string(src), word)
	}
	queued := says(schedule, "riority")
	for _, a := range names {
		x := f.nearest(schedule, a, files)
		if x != "" && (len(names) == 1 || says(x, "priority_queue") == queued) {
			list = append(list, x)
		}
	}
	return list
}

// nearest returns the program with a name that is in the most folders with a schedule, and of several the one in the
// fewest others; "": there is none.
func (f *gtSurvey) nearest(schedule, name string, files []string) (best string) {
	shared, others := 0, 0
	for _, x := range files {
		if x != name && !strings.HasSuffix(x, "/"+name) || path.Dir(x) == path.Dir(schedule) || !f.hasProgram(x) {
			continue
		}
		a, b := strings.Split(x, "/"), strings.Split(schedule, "/")
		n := 0
		for n < min(len(a), len(b))-1 && a[n] == b[n] {
			n++
		}
		if n > 0 && (n > shared || n == shared && len(a)-n < others) {
			best, shared, others = x, n, len(a)-n
		}
	}
	return best
}

// hasProgram reports whether a file is more than a schedule.
func (f *gtSurvey) hasProgram(name string) bool {
	src, err := readSource(filepath.Join(f.dir, name))
	return err != nil || strings.Contains(string(src), "func ")
}

var (
	testHelper = regexp.MustCompile(`^\s*def (\w+)\(self`)
	testFiles  = regexp.MustCompile(`"((?:\w+/)*\w+\.gt)"`)
	testCall   = regexp.MustCompile(`self\.(\w+)\("(\w+\.gt)"`)
)

// pairs returns the programs that tests name with a schedule's file: both in one call, or the program in the function
// that a test calls with the schedule.
func (f *gtSurvey) pairs(files []string) map[string][]string {
	pairs := map[string][]string{}
	add := func(schedule, program string) {
		if schedule = path.Base(schedule); schedule != program && !slices.Contains(pairs[schedule], program) {
			pairs[schedule] = append(pairs[schedule], program)
		}
	}
	for _, name := range files {
		if filepath.Ext(name) != ".py" {
			continue
		}
		src, err := readSource(filepath.Join(f.dir, name))
		if err != nil {
			continue
		}
		lines := strings.Split(string(src), "\n")
		within, helper := map[string][]string{}, ""
		for _, line := range lines {
			if m := testHelper.FindStringSubmatch(line); m != nil {
				helper = m[1]
			}
			if strings.HasPrefix(helper, "test_") {
				continue
			}
			for _, m := range testFiles.FindAllStringSubmatch(line, -1) {
				within[helper] = append(within[helper], m[1])
			}
		}
		for _, line := range lines {
			if m := testFiles.FindAllStringSubmatch(line, -1); len(m) == 2 {
				add(m[1][1], m[0][1])
			}
			if m := testCall.FindStringSubmatch(line); m != nil && len(testFiles.FindAllString(line, -1)) == 1 {
				for _, program := range within[m[1]] {
					add(m[2], program)
				}
			}
		}
	}
	return pairs
}

// survey takes a program as far as it goes.
func (f *gtSurvey) survey(ctx context.Context, x *surveyed, files []string) {
	err := f.stages(ctx, x, files)
	if err != nil {
		x.Reason = strings.ReplaceAll(strings.Join(strings.Fields(err.Error()), " "), f.dir+string(filepath.Separator), "")
	}
}

func (f *gtSurvey) stages(ctx context.Context, x *surveyed, files []string) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("BUG: %v", r)
		}
	}()
	if !f.hasProgram(x.Program) {
		return f.alone(x, filepath.Join(f.dir, x.Program))
	}
	file, err := f.linked(x)
	if err != nil {
		return err
	}
	k := gtCheck{float: f.float}
	if err := k.checked(file); err != nil {
		return err
	}
	x.Checks = true
	return f.simulate(ctx, x, file, files)
}

// linked reads a program with its schedule and its extern functions, and checks it.
func (f *gtSurvey) linked(x *surveyed) (*graphit.File, error) {
	schedule := ""
	if x.Schedule != "" {
		schedule = filepath.Join(f.dir, x.Schedule)
	}
	program := filepath.Join(f.dir, x.Program)
	file, err := parseProgram(program, schedule)
	if err != nil {
		return nil, err
	}
	x.Parses = true
	extern := ""
	if _, err := programs.Extern(filepath.Base(program)); err == nil {
		extern = filepath.Base(program)
	}
	if err := linkExterns(file, extern); err != nil {
		return nil, err
	}
	return file, graphit.Check(file)
}

// drawAll runs the programs that --match keeps under schedules that are drawn.
func (f *gtSurvey) drawAll(c *cobra.Command, files []string) error {
	var list []*gtDrawn
	for _, x := range f.subjects(files) {
		if x.Schedule != "" || !f.hasProgram(x.Program) || !f.names.MatchString(x.Program) {
			continue
		}
		one, err := f.drawn(c.Context(), &x, files)
		var wrong *graphit.Error
		switch {
		case errors.As(err, &wrong):
			continue // the survey itself says why it does not run
		case err != nil:
			return err
		}
		list = append(list, one)
	}
	if len(list) == 0 {
		return fmt.Errorf("%s: there are no programs (*.gt) here that --match keeps and that check", f.dir)
	}
	if f.json {
		return printJSON(c.OutOrStdout(), list)
	}
	drawnTable(c.OutOrStdout(), list)
	return nil
}

// alone parses a schedule for which the tests name no program.
func (f *gtSurvey) alone(x *surveyed, name string) error {
	src, err := readSource(name)
	if err != nil {
		return err
	}
	if _, err := graphit.ParseSchedule(name, src); err != nil {
		return err
	}
	x.Parses = true
	return errors.New("a schedule alone: no test names a program for it")
}

// simulate runs a program on the functional machine.
func (f *gtSurvey) simulate(ctx context.Context, x *surveyed, file *graphit.File, files []string) error {
	g, args, err := f.inputs(file, files)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, f.limit)
	defer cancel()
	d, err := host.NewFunctional(emu.Config{Cores: 2, Warps: 4, Threads: 4}, nil)
	if err != nil {
		return err
	}
	w, err := operatorWorkload(nil)
	if err != nil {
		return err
	}
	r, err := lower.Run(ctx, d, g, file, lower.Options{Args: args, Output: io.Discard, Float: f.float, Workload: w,
		HostOnly: true})
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("not done after %s", f.limit)
	case errors.Is(err, eval.ErrCheck):
		x.Runs = true
	}
	if err != nil {
		return err
	}
	x.Runs, x.Verified = true, r.Verified
	return nil
}

// surveyArguments are the arguments of programs after the graph.
var surveyArguments = []string{"1", "4", "2", "3", "1", "1"}

// inputs returns a program's graph and its arguments.
func (f *gtSurvey) inputs(file *graphit.File, files []string) (*graph.Graph, []string, error) {
	args := append([]string{file.Name, "2"}, surveyArguments...)
	for _, n := range file.Schedule.ThresholdArguments() {
		if n < len(args) {
			args[n] = "0.3"
		}
	}
	name, at, weighted := file.Graph()
	if at > 0 && at < len(args) {
		args[at] = "graph"
	}
	if name == "" {
		name = "4.el"
		if weighted {
			name = "4.wel"
		}
		if own := f.ownGraph(file, files); own != "" {
			name = own
		}
	}
	if at < 0 && name == "4.el" {
		g, err := isolated(file)
		return g, args, err
	}
	for _, name := range []string{name, largerGraph} {
		g, err := f.graph(name, files)
		if err != nil {
			return nil, nil, err
		}
		if v, _, ok := file.FirstVertex(); !ok || int(v) < g.Vertices() || name == largerGraph {
			return g, args, nil
		}
	}
	return nil, nil, errors.New("no graph")
}

// largerGraph is the graph of a program that names a vertex which its own does not have.
const largerGraph = "rmat10.el"

// ownGraph returns the graph that GraphIt's tests have for a program alone, which is smaller, when it runs under many
// schedules (cf: test_cf.wel); "": there is none.
func (f *gtSurvey) ownGraph(file *graphit.File, files []string) string {
	name := "test_" + strings.TrimSuffix(filepath.Base(file.Name), ".gt") + ".wel"
	if f.draw == 0 || !slices.ContainsFunc(files, func(x string) bool { return filepath.Base(x) == name }) {
		return ""
	}
	return name
}

// graph reads a graph of the folder, by its file's name.
func (f *gtSurvey) graph(name string, files []string) (*graph.Graph, error) {
	i := slices.IndexFunc(files, func(x string) bool { return filepath.Base(x) == filepath.Base(name) })
	if i < 0 {
		return nil, fmt.Errorf("the graph %s is not in the folder", filepath.Base(name))
	}
	from, err := os.Open(filepath.Join(f.dir, files[i]))
	if err != nil {
		return nil, err
	}
	defer from.Close()
	return graph.Read(filepath.Base(name), from, graph.ReadOptions{IDs: graphspec.KeepIDs})
}

// isolated returns a graph without edges, for a program that loads none.
func isolated(file *graphit.File) (*graph.Graph, error) {
	n := 1
	for _, v := range file.Globals {
		n = max(n, v.Isolated())
	}
	rows := fmt.Sprintf("%%%%MatrixMarket matrix coordinate pattern general\n%d %d 0\n", n, n)
	return graph.Read("none", strings.NewReader(rows), graph.ReadOptions{})
}

// surveyTable prints the outcomes, and how many programs came how far.
func surveyTable(w io.Writer, list []surveyed) {
	const columns = 80
	if n := fit.Columns(w); n == 0 || n > columns {
		w = fit.Writer{Writer: w, Columns: columns}
	}
	t := newTable(w, "program", "parses", "checks", "runs", "verified")
	var reasons []string
	yes := func(b bool) string {
		if b {
			return "yes"
		}
		return "-"
	}
	var parse, check, run, verify int
	count := func(n *int, b bool) {
		if b {
			*n++
		}
	}
	for _, x := range list {
		name := strings.TrimSuffix(x.Program, ".gt")
		if x.Schedule != "" {
			name += " + " + strings.TrimSuffix(filepath.Base(x.Schedule), ".gt")
		}
		count(&parse, x.Parses)
		count(&check, x.Checks)
		count(&run, x.Runs)
		count(&verify, x.Verified)
		t.AppendRow(table.Row{name, yes(x.Parses), yes(x.Checks), yes(x.Runs), yes(x.Verified)})
		if x.Reason != "" {
			reasons = append(reasons, name+": "+shortReason(x.Reason))
		}
	}
	t.AppendSeparator()
	t.AppendRow(table.Row{fmt.Sprintf("%d in all", len(list)), parse, check, run, verify})
	t.Render()
	for _, r := range reasons {
		fmt.Fprintln(w, text.WrapText("  "+r, columns))
	}
}

// surveyMarkdown prints a table for each folder, with the number of programs that come so far in its last row.
func surveyMarkdown(w io.Writer, list []surveyed) {
	folder := func(x *surveyed) string {
		if x.Schedule != "" {
			return path.Dir(x.Schedule) + ", with the programs that tests name"
		}
		return path.Dir(x.Program)
	}
	var folders []string
	for i := range list {
		if n := folder(&list[i]); !slices.Contains(folders, n) {
			folders = append(folders, n)
		}
	}
	slices.Sort(folders)
	for _, name := range folders {
		fmt.Fprintf(w, "\n%s:\n\n| program | parses | checks | runs | verified | reason |\n|---|---|---|---|---|---|\n", name)
		n, all := 0, [4]int{}
		for i := range list {
			x := &list[i]
			if folder(x) != name {
				continue
			}
			n++
			row := "| " + x.short()
			for k, yes := range []bool{x.Parses, x.Checks, x.Runs, x.Verified} {
				row += " | " + map[bool]string{true: "yes", false: "no"}[yes]
				if yes {
					all[k]++
				}
			}
			fmt.Fprintln(w, row+" | "+strings.ReplaceAll(shortReason(x.Reason), "|", "\\|")+" |")
		}
		fmt.Fprintf(w, "| **of %d** | %d | %d | %d | %d | |\n", n, all[0], all[1], all[2], all[3])
	}
}

// short is the program without its folder, and its schedule.
func (x *surveyed) short() string {
	name := strings.TrimSuffix(path.Base(x.Program), ".gt")
	if x.Schedule != "" {
		name += " + " + strings.TrimSuffix(path.Base(x.Schedule), ".gt")
	}
	return name
}

// shortReason is a reason without its file, and no longer than a table has room for.
func shortReason(s string) string {
	const most = 100
	if i := strings.Index(s, ".gt:"); i >= 0 {
		s = s[i+len(".gt:"):]
	}
	if r := []rune(s); len(r) > most {
		s = string(r[:most-1]) + "…"
	}
	return s
}
