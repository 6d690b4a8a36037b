// Package programs holds GraphIt programs.
package programs

import (
	"embed"
	"fmt"
	"strings"
)

//go:embed *.gt
var sources embed.FS

//go:embed externs/*.gt externs/*.c
var externs embed.FS

// externOf are the published programs for whose extern functions there is a file under the name of another.
var externOf = map[string]string{"astar_functor.gt": "astar.gt", "astar_distance_loader.gt": "astar.gt",
	"export_extern_simple_edgeset_appply.gt": "extern_simple_edgeset_apply.gt"}

// Extern returns the extern functions of a published program, as astar.gt, that has none itself; in C as astar.c.
func Extern(program string) ([]byte, error) {
	name := program
	if other := externOf[name]; other != "" {
		name = other
	}
	src, err := externs.ReadFile("externs/" + name)
	if err != nil {
		return nil, fmt.Errorf("there are no extern functions for %s", program)
	}
	return src, nil
}

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
