package schema

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// job has keys that have moved into groups: frontier with another name of its main key, compiler without one.
type job struct {
	Program  string   `key:"program" default:"none" doc:"The program."`
	Schedule string   `key:"schedule.name" main:"true" default:"vertex" oneof:"vertex,cta" doc:"Its name."`
	Set      string   `key:"frontier.set" main:"true" was:"active_set" default:"auto" oneof:"auto,queue" doc:"The set."`
	Dedup    string   `key:"frontier.dedup" was:"dedup" default:"auto" oneof:"auto,none" doc:"Duplicates."`
	Threads  int      `key:"schedule.cta_threads" was:"cta_threads" default:"0" min:"0" max:"64" unit:"threads" doc:"T."`
	Ahead    bool     `key:"compiler.ahead" was:"ahead" default:"true" doc:"A."`
	Passes   []string `key:"compiler.passes" was:"passes" default:"a,b" doc:"P."`
	New      int      `key:"compiler.level" default:"1" min:"0" max:"3" unit:"" doc:"N."`
}

func (job) Docs() map[string]string {
	return map[string]string{"schedule": "Schedules.", "frontier": "Frontiers.", "compiler": "The compiler."}
}

type jobs struct {
	Job     job      `key:"job" doc:"J."`
	Sweep   Axes     `key:"sweep" doc:"S."`
	Compare Variants `key:"compare" within:"job" doc:"C."`
}

var jobSchema = New[jobs]("")

func loadJob(t *testing.T, text string, set ...string) *Loaded[jobs] {
	t.Helper()
	l, err := jobSchema.Load(Input{File: "j.yaml", Data: []byte(text), Set: set})
	require.NoError(t, err, text)
	return l
}

// TestGroups: all ways of writing a configuration give the same one.
func TestGroups(t *testing.T) {
	want := jobSchema.Default()
	want.Job.Schedule, want.Job.Threads, want.Job.Set, want.Job.Dedup = "cta", 32, "queue", "none"
	want.Job.Ahead, want.Job.Passes = false, []string{"b"}
	for _, text := range []string{
		"job: {schedule: cta, cta_threads: 32, active_set: queue, dedup: none, ahead: false, passes: [b]}",
		"job: {schedule: {name: cta, cta_threads: 32}, frontier: {set: queue, dedup: none}, compiler: {ahead: false, passes: [b]}}",
		"job: {schedule: cta, schedule.cta_threads: 32, frontier: queue, dedup: none, ahead: false, compiler.passes: [b]}",
		"job: {schedule: cta, cta_threads: 32, frontier: queue, dedup: none, compiler: {ahead: false}, passes: [b]}",
	} {
		assert.Equal(t, want, loadJob(t, text).Value, text)
		for _, again := range []string{
			string(jobSchema.YAML(want)), string(jobSchema.Canonical(want)), string(loadJob(t, text).AnnotatedYAML()),
		} {
			assert.Equal(t, want, loadJob(t, again).Value, again)
		}
	}
	assert.Equal(t, want, loadJob(t, "{}", "job.schedule.cta_threads=32", "job.schedule=cta", "job.frontier.set=queue",
		"job.dedup=none", "job.compiler={ahead: false, passes: [b]}").Value)
	assert.Equal(t, want, loadJob(t, "{}", "job.schedule={name: cta, cta_threads: 32}", "job.frontier=queue",
		"job.frontier.dedup=none", "job.ahead=false", "job.compiler.passes=b").Value)
	l, err := jobSchema.Load(Input{Env: []string{"HEDDLE_JOB__SCHEDULE=cta", "HEDDLE_JOB__CTA_THREADS=32",
		"HEDDLE_JOB__FRONTIER={set: queue, dedup: none}", "HEDDLE_JOB__COMPILER__AHEAD=false", "HEDDLE_JOB__PASSES=b"}})
	require.NoError(t, err)
	assert.Equal(t, want, l.Value)
}

// TestGroupLayers: a value in place of a group sets its main key alone, over lower layers.
func TestGroupLayers(t *testing.T) {
	l := loadJob(t, "job:\n  schedule: {name: vertex, cta_threads: 8}\n", "job.schedule=cta")
	assert.Equal(t, 8, l.Value.Job.Threads)
	for path, at := range map[string]string{
		"job.schedule": "--set job.schedule", "job.schedule.name": "--set job.schedule",
		"job.cta_threads": "j.yaml:2:41", "job.compiler": "j.yaml:1:1",
	} {
		o, ok := l.Origin(path)
		assert.True(t, ok, path)
		assert.Equal(t, at, o.String(), path)
	}
}

// TestCanonical: the canonical text is that of the struct before its keys were grouped.
func TestCanonical(t *testing.T) {
	assert.Equal(t, `job:
  program: none
  schedule: vertex
  active_set: auto
  dedup: auto
  cta_threads: 0
  ahead: true
  passes: [a, b]
  compiler.level: 1
sweep: {}
compare: {}
`, string(jobSchema.Canonical(jobSchema.Default())))
	assert.Equal(t, `job:
  program: none
  schedule:
    name: vertex
    cta_threads: 0
  frontier:
    set: auto
    dedup: auto
  compiler:
    ahead: true
    passes: [a, b]
    level: 1
sweep: {}
compare: {}
`, string(jobSchema.YAML(jobSchema.Default())))
}

// TestGroupAxes: axes and variants have the keys' present paths, whichever they were written with.
func TestGroupAxes(t *testing.T) {
	l := loadJob(t, `
sweep: {job.active_set: [queue, auto], job.frontier.dedup: [none], "job.cta_threads, job.compiler.ahead": [[1, true]]}
compare:
  - {name: a, schedule: cta, cta_threads: 4}
  - {name: b, schedule: {name: vertex}, frontier.dedup: none, job.active_set: queue}
`)
	assert.Equal(t, Axes{{Key: "job.frontier", Values: []string{"queue", "auto"}},
		{Key: "job.frontier.dedup", Values: []string{"none"}},
		{Key: "job.schedule.cta_threads", Values: []string{"1"}},
		{Key: "job.compiler.ahead", Values: []string{"true"}, With: true}}, l.Value.Sweep)
	assert.Equal(t, Variants{
		{Name: "a", Set: []Setting{{"job.schedule", "cta"}, {"job.schedule.cta_threads", "4"}}},
		{Name: "b", Set: []Setting{{"job.schedule", "vertex"}, {"job.frontier.dedup", "none"}, {"job.frontier", "queue"}}},
	}, l.Value.Compare)
	assert.Equal(t, l.Value, loadJob(t, string(jobSchema.YAML(l.Value))).Value)
	assert.Equal(t, l.Value, loadJob(t, string(jobSchema.Canonical(l.Value))).Value)
	assert.True(t, jobSchema.Within("job.schedule", "job"))
	assert.False(t, jobSchema.Within("job.schedule.cta_threads", "job.schedule"))
	assert.True(t, jobSchema.Within("job.compiler.ahead", "job.compiler"))
	assert.Equal(t, "job.frontier", jobSchema.Path("job.active_set"))
	assert.Equal(t, "job.nothing", jobSchema.Path("job.nothing"))
}

// TestGroupErrors: errors name the keys that there are now, where they were written.
func TestGroupErrors(t *testing.T) {
	for text, want := range map[string]string{
		"job: {active_set: no}":                                  "j.yaml:1:19: job.frontier: expected one of auto, queue; found no",
		"job: {frontier: no}":                                    "j.yaml:1:17: job.frontier: expected one of auto, queue; found no",
		"job: {frontier: {set: no}}":                             "j.yaml:1:23: job.frontier: expected one of auto, queue; found no",
		"job: {frontier: [auto]}":                                "j.yaml:1:17: job.frontier: expected one of auto, queue, or a section; found a list",
		"job: {compiler: on}":                                    "j.yaml:1:17: job.compiler: expected a section; found on",
		"job: {frontier: {set: auto, se: 1}}":                    "j.yaml:1:29: job.frontier.se: unknown key; did you mean job.frontier.set?",
		"job: {active_sets: queue}":                              "j.yaml:1:7: job.active_sets: unknown key; did you mean job.frontier?",
		"job: {schedule: {dedup: none}}":                         "j.yaml:1:18: job.schedule.dedup: unknown key; did you mean job.frontier.dedup?",
		"job:\n  dedup: none\n  frontier: {dedup: auto}":         "j.yaml:3:14: job.frontier.dedup: duplicate key; first on line 2, by another name",
		"job:\n  frontier: queue\n  active_set: auto":            "j.yaml:3:3: job.active_set: is another name of job.frontier, which is on line 2",
		"job:\n  frontier: queue\n  frontier: queue":             "j.yaml:3:3: job.frontier: duplicate key; first on line 2",
		"sweep: {job.compiler: [1]}":                             "j.yaml:1:9: sweep.job.compiler: section cannot be an axis: it has no single value",
		"sweep: {job.dedup: [none], job.frontier.dedup: [auto]}": "j.yaml:1:28: sweep.job.frontier.dedup: stands twice among the axes",
	} {
		_, err := jobSchema.Load(Input{File: "j.yaml", Data: []byte(text)})
		assert.EqualError(t, err, want, text)
	}
	_, err := jobSchema.Load(Input{Env: []string{"HEDDLE_JOB__DEDUP=none", "HEDDLE_JOB__FRONTIER__DEDUP=auto"}})
	assert.EqualError(t, err, "$HEDDLE_JOB__FRONTIER__DEDUP: job.frontier.dedup: is another name of $HEDDLE_JOB__DEDUP, "+
		"which is there too")
}

// TestGroupLists: lists of keys name a group's main key by the group, and former names too.
func TestGroupLists(t *testing.T) {
	var paths []string
	for _, f := range jobSchema.Fields() {
		paths = append(paths, f.Path)
	}
	assert.Equal(t, []string{"job", "job.program", "job.schedule", "job.schedule.cta_threads", "job.frontier",
		"job.frontier.dedup", "job.compiler", "job.compiler.ahead", "job.compiler.passes", "job.compiler.level", "sweep",
		"compare"}, paths)
	assert.Contains(t, string(jobSchema.Explain(func(path string) bool { return path == "job.active_set" }, 80)),
		"job.frontier\n    name; auto, queue; default auto\n    Frontiers.\n    The set.\n    Also called job.active_set.\n")
	narrow := string(jobSchema.Text(60))
	assert.Contains(t, narrow, `
job.schedule (name or section; default vertex)
  Schedules.
    name                name; vertex, cta; default vertex
        Its name.
    cta_threads         integer, threads; 0..64; default 0
        T.
`)
	for _, line := range strings.Split(narrow, "\n") {
		assert.LessOrEqual(t, len(line), 60, line)
	}
	markdown := string(jobSchema.Markdown("jobs"))
	assert.Contains(t, markdown, "| `schedule` | name or section |  | `vertex` | Schedules. |")
	assert.Contains(t, markdown, "### `job.schedule`\n\nSchedules. `schedule: VALUE` is short for `schedule: {name: "+
		"VALUE}`.\n")
	assert.Contains(t, markdown, "Former names of keys, which are accepted: `active_set` (`frontier`), `ahead` "+
		"(`compiler.ahead`), `cta_threads` (`schedule.cta_threads`), `dedup` (`frontier.dedup`), `passes` "+
		"(`compiler.passes`).")
	assert.Contains(t, string(jobSchema.JSON()), `"was": "job.active_set",`)
}

type (
	groupKey struct {
		A int `key:"g.b.c" default:"0" min:"0" max:"1" unit:"" doc:"d"`
	}
	twoMain struct {
		A bool `key:"g.a" main:"true" default:"true" doc:"d"`
		B bool `key:"g.b" main:"true" default:"true" doc:"d"`
	}
	wasKey struct {
		A bool `key:"a" default:"true" doc:"d"`
		B bool `key:"g.b" was:"a" default:"true" doc:"d"`
	}
	undottedMain struct {
		A bool `key:"a" main:"true" default:"true" doc:"d"`
	}
	listMain struct {
		A []string `key:"g.a" main:"true" default:"" doc:"d"`
	}
	notGroup struct {
		A bool `key:"a" default:"true" doc:"d"`
		B bool `key:"a.b" default:"true" doc:"d"`
	}
)

func (groupKey) Docs() map[string]string { return map[string]string{"g": "G."} }
func (twoMain) Docs() map[string]string  { return map[string]string{"g": "G."} }
func (wasKey) Docs() map[string]string   { return map[string]string{"g": "G."} }
func (listMain) Docs() map[string]string { return map[string]string{"g": "G."} }
