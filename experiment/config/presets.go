// Package config describes experiments: the keys of docs/reference/configuration.md, the presets that heddle ships, and
// packs, which compare published figures with simulated ones. Machines are in package configs, and the keys below
// workload in kernels/workload.
package config

import (
	"heddle/configs"
	"heddle/configs/schema"
	"heddle/internal/registry"
)

// Schema is the typed tree of an experiment. Programs may register names and sections until its first use.
var Schema = schema.Deferred[Experiment]("experiments", registry.Close)

func init() { configs.KnowVariables(func() []string { return configs.Variables(Schema.Fields()) }) }

// Load loads a preset by its name, or a file if the name contains a dot or a slash. env is the environment, and set
// holds the values of --set.
func Load(name string, env, set []string) (*schema.Loaded[Experiment], error) {
	in, err := configs.Input("experiment", name, env, set)
	if err != nil {
		return nil, err
	}
	in.EnvOther = append(in.EnvOther, configs.Variables(configs.Schema.Fields())...)
	if l, err := loadVariants(in); l != nil || err != nil {
		return l, err
	}
	return Schema.Load(in)
}

// KeyOf returns the path of the key that a name means: a path, or a name of a key of workload, either possibly a former
// one, such as active_set; the name itself if it is no key's.
func KeyOf(name string) string {
	for _, path := range []string{name, "workload." + name} {
		if f, ok := Schema.Lookup(path); ok {
			return f.Path
		}
	}
	return name
}

// Parse reads an experiment that Schema.YAML wrote; messages call the text by name.
func Parse(name string, text []byte) (Experiment, error) {
	l, err := Schema.Load(schema.Input{File: name, Data: text, Presets: configs.Presets})
	if err != nil {
		return Experiment{}, err
	}
	return l.Value, nil
}

// ParseWith reads the text of an experiment with settings over it, as --set has them.
func ParseWith(name string, text []byte, set []string) (*schema.Loaded[Experiment], error) {
	return Schema.Load(schema.Input{File: name, Data: text, Set: set, Presets: configs.Presets})
}

// Names returns the experiment presets' names, sorted.
func Names() []string { return configs.PresetNames("experiment") }

// About returns the first sentence of an experiment preset's file; "" without one.
func About(name string) string { return configs.AboutPreset("experiment", name) }
