package schema

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"heddle/internal/suggest"
)

// Limits on extends; a fan of files within the chain's limit could still be huge.
const (
	maxChain = 16
	maxFiles = 64
)

// Presets returns a preset of a kind ("machines") by its name. file is its name in messages. The error text follows
// "preset NAME: ".
type Presets func(kind, name string) (file string, data []byte, err error)

// FromFS finds presets as KIND/NAME.yaml in an embedded file system.
func FromFS(fsys fs.FS) Presets {
	return func(kind, name string) (string, []byte, error) {
		file := path.Join(kind, name+".yaml")
		data, err := fs.ReadFile(fsys, file)
		if err == nil {
			return file, data, nil
		}
		names := presetNames(fsys, kind)
		if hint := suggest.DidYouMean(name, names); hint != "" {
			return "", nil, errors.New("unknown" + hint)
		}
		return "", nil, fmt.Errorf("unknown; there are: %s", strings.Join(names, ", "))
	}
}

// presetNames lists a kind's presets, sorted.
func presetNames(fsys fs.FS, kind string) []string {
	var names []string
	entries, _ := fs.ReadDir(fsys, kind) // an unknown kind has none
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ".yaml"); ok {
			names = append(names, name)
		}
	}
	return names
}

// isPath reports whether a name is a file's path rather than a preset's name.
func isPath(name string) bool {
	return strings.ContainsAny(name, `/\`) || strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml")
}

// extendsKey is "extends" in a section: allowed where presets are, and at the
// top of each file.
func (c *checker) extendsKey(s source, f *Field, k, n *yaml.Node) {
	switch {
	case f.Presets == "" && f != s.top:
		c.bad.add(s.at(k), join(f.Path, extendsKey), "extends stands at the top of a file%s", c.tree.presetSections())
	case !isString(n):
		c.bad.add(s.at(n), join(f.Path, extendsKey), "expected the name of a preset or of a file; found %s",
			describe(n))
	default:
		c.extend(s, f, n)
	}
}

// presetSections describes the other places where extends is allowed.
func (t *tree) presetSections() string {
	var paths []string
	for _, f := range t.fields[1:] {
		if f.Presets != "" {
			paths = append(paths, f.Path)
		}
	}
	if paths == nil {
		return ""
	}
	return ", or in " + strings.Join(paths, ", ")
}

// extend puts the named preset or file under the section f, replacing the values of lower layers.
func (c *checker) extend(s source, f *Field, n *yaml.Node) {
	at, key := s.at(n), join(f.Path, extendsKey)
	base, data, err := c.open(s, f, n.Value)
	id := base.file
	if base.presetOf != "" {
		id = base.presetOf + " preset " + n.Value
	}
	switch chain := append(slices.Clone(c.chain), id); {
	case err != nil:
		c.bad.add(at, key, "%v", err)
	case slices.Contains(c.chain, id):
		c.bad.add(at, key, "extends itself: %s", strings.Join(chain, " → "))
	case len(chain) > maxChain:
		c.bad.add(at, key, "more than %d files extend each other: %s", maxChain, strings.Join(chain, " → "))
	case len(c.files) == maxFiles:
		c.bad.add(at, key, "more than %d files", maxFiles)
	default:
		c.emit(opClear, f, noValue, at)
		c.within(id, func() { c.document(base, f, data) })
	}
}

func (c *checker) within(id string, do func()) {
	c.chain = append(c.chain, id)
	do()
	c.chain = c.chain[:len(c.chain)-1]
}

// open opens the preset or file that a section extends.
func (c *checker) open(s source, f *Field, name string) (source, []byte, error) {
	switch {
	case isPath(name) && s.presetOf != "":
		return source{}, nil, fmt.Errorf("%q: a preset extends presets only, by name", clip(name))
	case isPath(name):
		if !filepath.IsAbs(name) {
			name = filepath.Join(filepath.Dir(s.file), name)
		}
		data, err := readFile(name)
		if err != nil {
			err = fmt.Errorf("%s: %w", clip(name), err)
		}
		return source{file: filepath.Clean(name)}, data, err
	case f.Presets == "":
		return source{}, nil, fmt.Errorf("%q: there are no presets for this, expected a path such as ./base.yaml",
			clip(name))
	case c.presets == nil || !fs.ValidPath(name):
		return source{}, nil, fmt.Errorf("preset %s of %s: unknown", clip(name), f.Presets)
	}
	file, data, err := c.presets(f.Presets, name)
	if err != nil {
		err = fmt.Errorf("preset %s of %s: %w", clip(name), f.Presets, err)
	}
	return source{file: file, presetOf: f.Presets}, data, err
}

// document checks a file's text as the section f.
func (c *checker) document(s source, f *Field, data []byte) {
	s.top = f
	c.files = append(c.files, s.file)
	n, ok := parseYAML(data, s.place, c.bad)
	switch {
	case !ok:
	case n == nil: // empty, or comments only
		c.emit(opPresent, f, noValue, s.place(1, 1))
	case n.Kind != yaml.MappingNode:
		c.wrong(s, f.Path, n, f.expected(), nil)
	default:
		c.mapping(s, f, n, s.at(n))
	}
}
