package configs

import (
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"heddle/components/accel"
	"heddle/configs/schema"
	"heddle/internal/registry"
)

//go:embed machines/*.yaml experiments/*.yaml
var presets embed.FS

// Schema is the typed tree of a machine, ExperimentSchema that of an experiment. Programs may register what names and
// sections they have until they are first used.
var (
	Schema           = schema.Deferred[Machine]("machines", registry.Close)
	ExperimentSchema = schema.Deferred[Experiment]("experiments", registry.Close)
)

// LoadMachine loads a preset by name, or a file; env is the environment, set
// what --set gave.
func LoadMachine(name string, env, set []string) (*schema.Loaded[Machine], error) {
	in, err := input("machine", name, env, set)
	if err != nil {
		return nil, err
	}
	in.EnvOther = append(in.EnvOther, variables(ExperimentSchema.Fields())...)
	return Schema.Load(in)
}

// LoadExperiment does the same for experiments.
func LoadExperiment(name string, env, set []string) (*schema.Loaded[Experiment], error) {
	in, err := input("experiment", name, env, set)
	if err != nil {
		return nil, err
	}
	in.EnvOther = append(in.EnvOther, variables(Schema.Fields())...)
	if l, err := loadVariants(in); l != nil || err != nil {
		return l, err
	}
	return ExperimentSchema.Load(in)
}

// ParseExperiment reads an experiment that ExperimentSchema.YAML wrote; name is the text's in messages.
func ParseExperiment(name string, text []byte) (Experiment, error) {
	l, err := ExperimentSchema.Load(schema.Input{File: name, Data: text, Presets: schema.FromFS(presets)})
	if err != nil {
		return Experiment{}, err
	}
	return l.Value, nil
}

// ParseExperimentWith reads an experiment's text, with keys set as --set sets them.
func ParseExperimentWith(name string, text []byte, set []string) (*schema.Loaded[Experiment], error) {
	return ExperimentSchema.Load(schema.Input{File: name, Data: text, Set: set, Presets: schema.FromFS(presets)})
}

// ParseMachine reads a machine's text, with keys set as --set sets them.
func ParseMachine(name string, text []byte, set []string) (*schema.Loaded[Machine], error) {
	return Schema.Load(schema.Input{File: name, Data: text, Set: set, Presets: schema.FromFS(presets)})
}

// ParseWorkload reads what is computed and how from KEY=VALUE settings, the keys below workload; others are at their
// defaults.
func ParseWorkload(set []string) (Workload, error) {
	l, err := workloadSchema.Load(schema.Input{Set: set})
	if err != nil {
		return Workload{}, err
	}
	return l.Value, nil
}

// input finds a preset of a kind, or a file, which has a dot or a slash in its path.
func input(kind, name string, env, set []string) (schema.Input, error) {
	in := schema.Input{File: name, Env: env, Set: set, Presets: schema.FromFS(presets), EnvOther: slices.Clone(otherVariables)}
	if strings.ContainsAny(name, `/\.`) {
		_, err := os.Stat(name)
		return in, err
	}
	in.File = path.Join(kind+"s", name+".yaml")
	data, err := presets.ReadFile(in.File)
	if err != nil {
		return in, fmt.Errorf("no %s %q: expected a file, or one of %s", kind, name, strings.Join(names(kind), ", "))
	}
	in.Data = data
	return in, nil
}

// otherVariables are ours, but not of the configuration.
var otherVariables = []string{
	"HEDDLE_REQUIRE_TOOLS", "HEDDLE_LONG", "HEDDLE_SEED", "HEDDLE_COMPOSE_SHARE", "HEDDLE_SCREENSHOTS",
	"HEDDLE_TEST_MOUNTS",
}

// variables are the environment's names of keys: those of an experiment may be set
// while a machine is loaded, and the other way round.
func variables(fields []*schema.Field) (out []string) {
	for _, f := range fields {
		out = append(out, schema.EnvName(f.Path))
	}
	return out
}

// MachineNames returns the machine presets' names, sorted.
func MachineNames() []string { return names("machine") }

// MachinesWith returns the names of the machine presets whose cores have such a graph unit, sorted.
func MachinesWith(u *accel.Kind) []string { return slices.Clone(machinesByUnit()[u.Name]) }

// machinesByUnit lists presets by their unit. Many configurations of a search may be refused, each with a list of
// these.
var machinesByUnit = sync.OnceValue(func() map[string][]string {
	of := map[string][]string{}
	for _, name := range MachineNames() {
		l, err := LoadMachine(name, nil, nil)
		if err != nil {
			continue
		}
		if u := accel.KindOf(l.Value.Core.Unit.Spec); u != nil {
			of[u.Name] = append(of[u.Name], name)
		}
	}
	return of
})

// ExperimentNames returns the experiment presets' names, sorted.
func ExperimentNames() []string { return names("experiment") }

// AboutMachine is the first sentence of a machine preset's file; "" if it says none.
func AboutMachine(name string) string { return about("machine", name) }

// AboutExperiment is the same for an experiment preset.
func AboutExperiment(name string) string { return about("experiment", name) }

// sentence ends at a full stop before another sentence, or with its paragraph; a stop inside brackets or a name is
// none.
var sentence = regexp.MustCompile(`^.*?[^.][.](?: [A-Z]|$)`)

func about(kind, name string) string {
	data, err := fs.ReadFile(presets, path.Join(kind+"s", name+".yaml"))
	if err != nil {
		return ""
	}
	var words []string
	for _, line := range strings.Split(string(data), "\n") {
		line, ok := strings.CutPrefix(line, "#")
		if !ok {
			break
		}
		words = append(words, strings.Fields(line)...)
	}
	text := strings.Join(words, " ")
	if m := sentence.FindString(text); m != "" && m != text {
		text = m[:len(m)-2]
	}
	return strings.TrimSuffix(text, ".")
}

func names(kind string) []string {
	files, err := fs.Glob(presets, kind+"s/*.yaml")
	if err != nil {
		panic(fmt.Sprintf("BUG: configs: %v", err))
	}
	var names []string
	for _, f := range files {
		names = append(names, strings.TrimSuffix(path.Base(f), ".yaml"))
	}
	return names
}
