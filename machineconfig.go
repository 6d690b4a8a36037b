package heddle

import (
	"heddle/configs"
)

// MachineConfig is a timed machine's configuration: the keys below machine in docs/reference/configuration.md, as
// fields. LoadMachine returns a checked one; modifications by the program are checked only by NewMachine.
type MachineConfig = configs.Machine

// LoadMachine reads the configuration of a machine: name is a preset's (MachinePresets) or the path of a YAML file,
// which contains a dot or a slash. settings are KEY=VALUE pairs that override it, as after --set: "core.warps=8". The
// environment is not read. The error has a line for each mistake, with file, line, key and the expected value.
func LoadMachine(name string, settings ...string) (MachineConfig, error) {
	l, err := configs.LoadMachine(name, nil, settings)
	if err != nil {
		return MachineConfig{}, err
	}
	return l.Value, nil
}

// ParseMachine is LoadMachine for YAML given as text; messages refer to it by name.
func ParseMachine(name string, yaml []byte, settings ...string) (MachineConfig, error) {
	l, err := configs.ParseMachine(name, yaml, settings)
	if err != nil {
		return MachineConfig{}, err
	}
	return l.Value, nil
}

// MachineYAML returns all keys of a configuration; ParseMachine reads them back.
func MachineYAML(c MachineConfig) []byte { return configs.Schema.YAML(c) }

// MachinePresets returns the names of the machines that heddle ships, sorted.
func MachinePresets() []string { return configs.MachineNames() }
