// Package programs holds GraphIt programs.
package programs

import (
	"embed"
	"fmt"
	"strings"
)

//go:embed *.gt
var sources embed.FS

// Names returns the programs' names, sorted.
func Names() (names []string) {
	files, err := sources.ReadDir(".")
	if err != nil {
		panic(fmt.Sprintf("BUG: programs: %v", err))
	}
	for _, f := range files {
		names = append(names, strings.TrimSuffix(f.Name(), ".gt"))
	}
	return names
}

// Source returns a program's text.
func Source(name string) ([]byte, error) {
	src, err := sources.ReadFile(name + ".gt")
	if err != nil {
		return nil, fmt.Errorf("no program %q: expected one of %s", name, strings.Join(Names(), ", "))
	}
	return src, nil
}
