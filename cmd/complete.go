package cmd

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"heddle/configs"
	"heddle/experiment/config"
	"heddle/experiment/store"
)

// completers lists the values of a command's first argument, beside files.
var completers = map[string]func() []string{
	"run":            config.Names,
	"tune":           config.Names,
	"config check":   presetNames,
	"config show":    presetNames,
	"config draw":    configs.MachineNames,
	"config schema":  keyNames,
	"reproduce":      config.PackNames,
	"report":         resultNames,
	"figure":         resultNames,
	"results list":   resultNames,
	"results show":   resultNames,
	"results diff":   resultNames,
	"results export": resultNames,
	"results merge":  resultNames,
	"results sql":    resultNames,
}

// complete adds completions of experiments, machines, keys, packs and results.
func complete(c *cobra.Command, root string) {
	name := strings.TrimPrefix(strings.TrimPrefix(c.CommandPath(), root), " ")
	if of := completers[name]; of != nil {
		c.ValidArgsFunction = func(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
			return beginning(of(), typed), cobra.ShellCompDirectiveDefault
		}
	}
	for flag, of := range map[string]func() []string{
		"set": keyNames, "machine": configs.MachineNames,
		"launcher": func() []string { return []string{localLauncher, slurmLauncher} },
	} {
		if c.Flags().Lookup(flag) == nil {
			continue
		}
		directive := cobra.ShellCompDirectiveDefault
		if flag == "set" {
			directive = cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
		}
		if err := c.RegisterFlagCompletionFunc(flag,
			func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
				list := beginning(of(), typed)
				if flag == "set" {
					for i := range list {
						list[i] += "="
					}
				}
				return list, directive
			}); err != nil {
			panic("BUG: cmd: " + err.Error())
		}
	}
	for _, sub := range c.Commands() {
		complete(sub, root)
	}
}

func beginning(list []string, with string) (out []string) {
	for _, s := range list {
		if strings.HasPrefix(s, with) {
			out = append(out, s)
		}
	}
	return out
}

func presetNames() []string {
	return slices.Concat(configs.MachineNames(), config.Names())
}

func keyNames() (keys []string) {
	for _, f := range config.Schema.Fields() {
		keys = append(keys, f.Path)
	}
	return keys
}

// resultNames returns the names of experiments with results in the working directory.
func resultNames() (names []string) {
	stores, _ := filepath.Glob(filepath.Join("results", "*", store.File))
	for _, s := range stores {
		if _, err := os.Stat(s); err == nil {
			names = append(names, filepath.Base(filepath.Dir(s)))
		}
	}
	return names
}
