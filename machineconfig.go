package heddle

import (
	"heddle/configs"
)

// MachineConfig is a timed machine's configuration: the keys of docs/reference/configuration.md, below machine, as
// fields. Load makes one; of one that is changed by hand nothing is checked before New.
type MachineConfig = configs.Machine

// LoadMachine reads the configuration of a machine: name is a preset's (Presets) or a YAML file's, which has a dot or a
// slash in it. settings are KEY=VALUE over it, as after --set: "core.warps=8". The environment is not looked at. An
// error has a line for each mistake, with file, line, key and what was expected.
func LoadMachine(name string, settings ...string) (MachineConfig, error) {
	l, err := configs.LoadMachine(name, nil, settings)
	if err != nil {
		return MachineConfig{}, err
	}
	return l.Value, nil
}

// ParseMachine is Load of YAML given as text; messages call it by name.
func ParseMachine(name string, yaml []byte, settings ...string) (MachineConfig, error) {
	l, err := configs.ParseMachine(name, yaml, settings)
	if err != nil {
		return MachineConfig{}, err
	}
	return l.Value, nil
}

// MachineYAML writes all keys of a configuration; Parse reads them again.
func MachineYAML(c MachineConfig) []byte { return configs.Schema.YAML(c) }

// MachinePresets lists the names of the machines that heddle has, sorted.
func MachinePresets() []string { return configs.MachineNames() }
