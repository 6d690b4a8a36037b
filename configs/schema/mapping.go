package schema

import (
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Mapping is a leaf that holds a mapping of YAML whose keys are not the schema's, such as the labels of a program. It
// is kept as flow YAML in one line, keys in their order, whatever the layout it was written in; "{}" is an empty one.
type Mapping string

// mapping is the scalar of Mapping: one value to the schema.
type mapping struct{}

var mappingType = reflect.TypeFor[Mapping]()

func (mapping) parse(text string) (reflect.Value, bool) {
	var bad problems
	n, ok := parseYAML([]byte(text), func(int, int) Origin { return Origin{} }, &bad)
	if !ok || n == nil || n.Kind != yaml.MappingNode {
		return reflect.Value{}, false
	}
	return reflect.ValueOf(Mapping(flow(n))), true
}

func (mapping) text(v reflect.Value) string { return v.String() }
func (mapping) expected() string            { return "a mapping, as {key: value}" }
func (mapping) name() string                { return "mapping" }
func (mapping) span() string                { return "" }
func (mapping) values() []string            { return nil }
func (mapping) quotable() bool              { return false }

// isMapping reports whether a field's value is a mapping.
func (f *Field) isMapping() bool {
	_, ok := f.scalar.(mapping)
	return ok && !f.list
}

// flowWord matches words that need no quotes within flow YAML, unless they are reserved: names with colons between
// them.
var flowWord = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_./-]*(:[A-Za-z0-9_./-]+)*$`)

// flow writes a node that has been vetted in one line.
func flow(n *yaml.Node) string {
	var parts []string
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			parts = append(parts, flow(n.Content[i])+": "+flow(n.Content[i+1]))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case yaml.SequenceNode:
		for _, c := range n.Content {
			parts = append(parts, flow(c))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	switch {
	case isString(n) && flowWord.MatchString(n.Value):
		return quoteWord(n.Value)
	case isString(n):
		return strconv.Quote(n.Value)
	case isNull(n):
		return "null"
	}
	return n.Value // a number or a truth value
}
