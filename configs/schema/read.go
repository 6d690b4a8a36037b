package schema

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"heddle/internal/files"
)

// Limits on files. Real ones stay far below.
const (
	maxFileSize = 1 << 20
	maxDepth    = 32
)

// readFile reads a file of bounded size.
func readFile(name string) ([]byte, error) {
	data, err := files.Read(name, maxFileSize)
	var kind *files.TypeError
	switch {
	case errors.As(err, &kind):
		return nil, errors.New(strings.TrimPrefix(err.Error(), name+": ")) // which the message has already
	case errors.As(err, new(*files.SizeError)):
		return nil, fmt.Errorf("larger than %d bytes", maxFileSize)
	case err != nil:
		return nil, errors.New(pathless(err))
	}
	return data, nil
}

// pathless drops operation and path, which the message has already.
func pathless(err error) string {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}

// Node is a part of a YAML file.
type Node = yaml.Node

// Kinds of nodes.
const (
	ScalarNode   = yaml.ScalarNode
	SequenceNode = yaml.SequenceNode
)

// Parse reads a file that holds sections of several schemas: its top, nil when it is empty. The file's name
// is for messages. An error is an *Errors.
func Parse(file string, data []byte) (*Node, error) {
	var bad problems
	n, _ := parseYAML(data, source{file: file}.place, &bad)
	return n, bad.err()
}

// Section is a key of a mapping with its value.
type Section struct {
	Key   string
	Value *Node
}

// Sections lists the keys of a mapping that Parse has read.
func Sections(n *Node) (out []Section) {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i < len(n.Content); i += 2 {
		out = append(out, Section{n.Content[i].Value, n.Content[i+1]})
	}
	return out
}

// List lists the elements of a sequence that Parse has read; ok is false for anything else. Nil has none.
func List(n *Node) (elements []*Node, ok bool) {
	if n == nil {
		return nil, true
	}
	return n.Content, n.Kind == yaml.SequenceNode
}

// parseYAML returns the single document's top node, nil if the file is empty. It reports refused constructs at their
// positions: several documents, anchors, aliases, tags, deep nesting.
func parseYAML(data []byte, at func(line, col int) Origin, p *problems) (*yaml.Node, bool) {
	before := p.count()
	if line, col, msg := vetBytes(data); msg != "" {
		p.add(at(line, col), "", "%s", msg)
		return nil, false
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, second yaml.Node
	err := dec.Decode(&doc)
	if errors.Is(err, io.EOF) {
		return nil, true
	}
	if err == nil {
		err = dec.Decode(&second)
	}
	switch {
	case err == nil:
		p.add(at(second.Line, second.Column), "", "a second document begins here; one is allowed")
		return nil, false
	case !errors.Is(err, io.EOF):
		line, msg := yamlError(data, err)
		p.add(at(line, 1), "", "%s", msg)
		return nil, false
	}
	vetNode(doc.Content[0], 1, at, p)
	return doc.Content[0], p.count() == before
}

// vetBytes finds errors that the parser would report without a position.
func vetBytes(data []byte) (line, col int, msg string) {
	if len(data) > maxFileSize {
		return 0, 0, fmt.Sprintf("larger than %d bytes", maxFileSize)
	}
	line, col = 1, 1
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			return line, col, "not UTF-8"
		case r < ' ' && r != '\t' && r != '\n' && r != '\r', r >= 0x7F && r < 0xA0 && r != 0x85, r == 0xFFFE,
			r == 0xFFFF:
			return line, col, fmt.Sprintf("control character %U", r)
		case r == '\uFEFF' && i > 0:
			return line, col, "byte order mark inside the file"
		case r == '\n':
			line, col = line+1, 0
		}
		col, i = col+1, i+n
	}
	return 0, 0, ""
}

// vetNode refuses constructs that could give a file a hidden meaning.
func vetNode(n *yaml.Node, depth int, at func(line, col int) Origin, p *problems) {
	refuse := func(msg string) { p.add(at(n.Line, n.Column), "", "%s", msg) }
	switch {
	case depth > maxDepth:
		refuse(fmt.Sprintf("nested deeper than %d levels", maxDepth))
		return
	case n.Anchor != "":
		refuse("anchors are refused; use extends, or write the value out")
	case n.Kind == yaml.AliasNode:
		refuse("aliases are refused; use extends, or write the value out")
		return
	case n.Kind == yaml.ScalarNode && n.Tag == "!!merge":
		refuse("merge keys are refused; use extends")
	case n.Style&yaml.TaggedStyle != 0:
		refuse("tags are refused; types follow from the keys")
	}
	for _, c := range n.Content {
		vetNode(c, depth+1, at, p)
	}
}

var (
	yamlLine  = regexp.MustCompile(`^line (\d+): `)
	yamlAlias = regexp.MustCompile(`^unknown anchor '(.*)' referenced`)
)

// yamlError finds the line of a parser's error, which the library gives in
// three ways: right, one too low, or not at all for the first line.
func yamlError(data []byte, err error) (line int, msg string) {
	msg = strings.TrimPrefix(err.Error(), "yaml: ")
	if m := yamlAlias.FindStringSubmatch(msg); m != nil {
		i := max(0, bytes.Index(data, []byte("*"+m[1])))
		return 1 + bytes.Count(data[:i], []byte("\n")), "aliases are refused; use extends, or write the value out"
	}
	line = 1
	given := yamlLine.FindStringSubmatch(msg)
	if given != nil {
		line, _ = strconv.Atoi(given[1])
		msg = msg[len(given[0]):]
	}
	parserLine := line // of the parser's stage, which counts from 0
	if given != nil {
		parserLine++
	}
	switch tab := firstTab(data, line); {
	case msg == "did not find expected key", msg == "did not find expected '-' indicator":
		line = firstBadLine(data, err.Error(), parserLine)
		msg += "; is the indentation right?"
	case strings.HasPrefix(msg, "did not find expected"):
		line = parserLine
	case strings.Contains(msg, "cannot start any token") && tab == line,
		strings.Contains(msg, "tab character") && tab > 0:
		line, msg = tab, "found a tab character in the indentation"
	}
	return line, msg
}

// maxBisect is the size up to which reparsing for an exact line is cheap.
const maxBisect = 1 << 16

// firstBadLine finds where a block collection breaks; the library names the
// line where that collection began. Neither message can come from cutting a
// file short, so all prefixes up to the culprit lack it and all later ones
// have it.
func firstBadLine(data []byte, msg string, line int) int {
	if len(data) > maxBisect {
		return line
	}
	lines := bytes.SplitAfter(data, []byte("\n"))
	lo, hi := 1, len(lines)
	for lo < hi {
		mid := (lo + hi) / 2
		if sameFailure(bytes.Join(lines[:mid], nil), msg) {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo
}

// sameFailure compares errors except for the line, which may change with the text after it.
func sameFailure(data []byte, msg string) bool {
	err := yaml.Unmarshal(data, new(yaml.Node))
	if err == nil {
		return false
	}
	plain := func(s string) string {
		return yamlLine.ReplaceAllString(strings.TrimPrefix(s, "yaml: "), "")
	}
	return plain(err.Error()) == plain(msg)
}

// firstTab finds the first line from that one on with a tab in its
// indentation; 0 when there is none.
func firstTab(data []byte, line int) int {
	for i, text := range bytes.Split(data, []byte("\n")) {
		if i+1 >= line && bytes.HasPrefix(bytes.TrimLeft(text, " "), []byte("\t")) {
			return i + 1
		}
	}
	return 0
}
