package machine

import (
	"heddle/configs"
)

// Config is a timed machine's configuration: the keys of docs/reference/configuration.md, below machine, as fields.
// Load makes one; of one that is changed by hand nothing is checked before New.
type Config = configs.Machine

// Load reads the configuration of a machine: name is a preset's (Presets) or a YAML file's, which has a dot or a slash
// in it. settings are KEY=VALUE over it, as after --set: "core.warps=8". The environment is not looked at. An error has
// a line for each mistake, with file, line, key and what was expected.
func Load(name string, settings ...string) (Config, error) {
	l, err := configs.LoadMachine(name, nil, settings)
	if err != nil {
		return Config{}, err
	}
	return l.Value, nil
}

// Parse is Load of YAML given as text; messages call it by name.
func Parse(name string, yaml []byte, settings ...string) (Config, error) {
	l, err := configs.ParseMachine(name, yaml, settings)
	if err != nil {
		return Config{}, err
	}
	return l.Value, nil
}

// YAML writes all keys of a configuration; Parse reads them again.
func YAML(c Config) []byte { return configs.Schema.YAML(c) }

// Presets lists the names of the machines that heddle has, sorted.
func Presets() []string { return configs.MachineNames() }
