package hotspots

import (
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"heddle/internal/files"
	"heddle/internal/plain"
)

// Limits of reading source files.
const (
	maxSource     = 16 << 20 // bytes of one
	maxSources    = 64       // of them
	maxSourceLine = 160      // characters of a line that are shown
)

// sourceExtensions are of files that are shown: a program may name any file as its source.
var sourceExtensions = []string{".s", ".c", ".h", ".cc", ".cpp", ".cxx", ".hpp", ".inc", ".rs", ".cl", ".cu"}

// readSources finds the lines' texts where files are there that can be read: where they are said to be, or beside the
// program.
func readSources(all []Instruction, beside string) {
	known := map[string][]string{}
	for i := range all {
		x := &all[i]
		if x.Line == 0 || x.compiled != nil {
			continue
		}
		lines, ok := known[x.File]
		if !ok {
			if len(known) < maxSources {
				lines = readSource(x.File, beside)
			}
			known[x.File] = lines
		}
		if x.Line <= len(lines) {
			x.Source = shown(lines[x.Line-1])
		}
	}
}

func readSource(name, beside string) []string {
	if !slices.Contains(sourceExtensions, strings.ToLower(filepath.Ext(name))) {
		return nil
	}
	names := []string{name, filepath.Join(beside, filepath.Base(name))}
	for _, name := range names {
		if data, err := files.Read(name, maxSource); err == nil {
			return strings.Split(string(data), "\n")
		}
	}
	return nil
}

// shown is a line as it is shown: on one line, without its indentation.
func shown(line string) string {
	line = plain.Line(strings.ReplaceAll(strings.TrimSpace(line), "\t", "  "))
	if utf8.RuneCountInString(line) > maxSourceLine {
		line = string([]rune(line)[:maxSourceLine-1]) + "…"
	}
	return line
}
