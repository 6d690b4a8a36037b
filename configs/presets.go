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
	"heddle/internal/suggest"
)

// Files holds the YAML files that heddle ships: machines, experiments, packs of published figures (reproduce), and
// tables of energies.
//
//go:embed machines/*.yaml experiments/*.yaml reproduce/*/*.yaml energy/*.yaml
var Files embed.FS

// Schema is the typed tree of a machine. Programs may register the names and sections that it has until it is first
// used.
var Schema = schema.Deferred[Machine]("machines", registry.Close)

// LoadMachine loads a preset by name, or a file; env is the environment, and set holds the arguments of --set.
func LoadMachine(name string, env, set []string) (*schema.Loaded[Machine], error) {
	in, err := Input("machine", name, env, set)
	if err != nil {
		return nil, err
	}
	in.EnvOther = append(in.EnvOther, moreVariables()...)
	return Schema.Load(in)
}

// ParseMachine reads a machine's text, with keys set as --set sets them.
func ParseMachine(name string, text []byte, set []string) (*schema.Loaded[Machine], error) {
	return Schema.Load(schema.Input{File: name, Data: text, Set: set, Presets: Presets})
}

// Presets finds the presets of heddle.
func Presets(kind, name string) (file string, data []byte, err error) {
	return schema.FromFS(Files)(kind, presetName(name))
}

// presetName returns a preset's name with the keys of units for their aliases: vortex-1c4w4t-graphpeg for
// vortex-1c4w4t-peg.
func presetName(name string) string {
	parts := strings.Split(name, "-")
	for i, p := range parts {
		parts[i] = accel.KeyOf(p)
	}
	return strings.Join(parts, "-")
}

// Input finds a preset of a kind (machine, experiment), or a file, which has a dot or a slash in its path; env is the
// environment, and set the values of --set.
func Input(kind, name string, env, set []string) (schema.Input, error) {
	in := schema.Input{File: name, Env: env, Set: set, Presets: Presets,
		EnvOther: slices.Clone(otherVariables)}
	if strings.ContainsAny(name, `/\.`) {
		_, err := os.Stat(name)
		return in, err
	}
	in.File = path.Join(kind+"s", presetName(name)+".yaml")
	data, err := Files.ReadFile(in.File)
	if err != nil {
		names := PresetNames(kind)
		if hint := suggest.DidYouMean(name, names); hint != "" {
			return in, fmt.Errorf("no %s %q%s (heddle config list lists them all)", kind, name, hint)
		}
		return in, fmt.Errorf("no %s %q: expected a file, or one of %s", kind, name, strings.Join(names, ", "))
	}
	in.Data = data
	return in, nil
}

// otherVariables are ours, but not of the configuration.
var otherVariables = []string{
	"HEDDLE_REQUIRE_TOOLS", "HEDDLE_LONG", "HEDDLE_SEED", "HEDDLE_COMPOSE_SHARE", "HEDDLE_SCREENSHOTS",
	"HEDDLE_TEST_MOUNTS",
}

// moreVariables returns the variables of keys that are not a machine's.
var moreVariables = func() []string { return nil }

// KnowVariables adds names of variables that may be set while a machine is loaded, as those of an experiment's keys.
func KnowVariables(names func() []string) { moreVariables = names }

// Variables returns the names of the environment variables of keys.
func Variables(fields []*schema.Field) (out []string) {
	for _, f := range fields {
		out = append(out, schema.EnvName(f.Path))
	}
	return out
}

// MachineNames returns the machine presets' names, sorted.
func MachineNames() []string { return PresetNames("machine") }

// MachinesWith returns the names of the machine presets whose cores have such a graph unit, sorted.
func MachinesWith(u *accel.Kind) (names []string) {
	for _, m := range machinesByUnit()[u.Name] {
		names = append(names, m.name)
	}
	return names
}

// MachinesLike is MachinesWith with the presets first that have as many cores, warps and lanes as a machine.
func MachinesLike(like *Machine, u *accel.Kind) (names []string) {
	shape := func(m *Machine) [4]int { return [4]int{m.Sockets, m.CoresPerSocket, m.Core.Warps, m.Core.Threads} }
	for _, equal := range []bool{true, false} {
		for _, m := range machinesByUnit()[u.Name] {
			if equal == (shape(&m.Value) == shape(like)) {
				names = append(names, m.name)
			}
		}
	}
	return names
}

// unitMachine is a machine preset with a graph unit.
type unitMachine struct {
	*schema.Loaded[Machine]
	name string
}

// machinesByUnit lists presets by their unit. Many configurations of a search may be refused, each with a list of
// these.
var machinesByUnit = sync.OnceValue(func() map[string][]unitMachine {
	of := map[string][]unitMachine{}
	for _, name := range MachineNames() {
		l, err := LoadMachine(name, nil, nil)
		if err != nil {
			continue
		}
		if u := accel.KindOf(l.Value.Core.Unit.Spec); u != nil {
			of[u.Name] = append(of[u.Name], unitMachine{l, name})
		}
	}
	return of
})

// AboutMachine returns the first sentence of a machine preset's file; "" if it has none.
func AboutMachine(name string) string { return AboutPreset("machine", name) }

// sentence ends at a full stop before another sentence, or with its paragraph; a stop inside brackets or a name is
// none.
var sentence = regexp.MustCompile(`^.*?[^.][.](?: [A-Z]|$)`)

// AboutPreset returns the first sentence of a preset's file.
func AboutPreset(kind, name string) string {
	data, err := fs.ReadFile(Files, path.Join(kind+"s", name+".yaml"))
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

// PresetNames returns the names of the presets of a kind (machine, experiment), sorted.
func PresetNames(kind string) []string {
	files, err := fs.Glob(Files, kind+"s/*.yaml")
	if err != nil {
		panic(fmt.Sprintf("BUG: configs: %v", err))
	}
	var names []string
	for _, f := range files {
		names = append(names, strings.TrimSuffix(path.Base(f), ".yaml"))
	}
	return names
}
