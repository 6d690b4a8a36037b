package cuda

import (
	"bytes"
	"fmt"
	"strings"
)

// Text is C++ text that is being written.
type Text struct {
	b     bytes.Buffer
	depth int
}

// Line writes a line, indented by the braces that are open.
func (t *Text) Line(format string, args ...any) { t.line(format, args...) }

// Raw writes text as it is.
func (t *Text) Raw(text string) { t.b.WriteString(text) }

// Bytes returns the text.
func (t *Text) Bytes() []byte { return t.b.Bytes() }

// Call writes the call of a function, over several lines if it is long.
func (t *Text) Call(function string, args []string) {
	t.line("%s(%s);", function, wrap(args, strings.Repeat("    ", t.depth+1), 100))
}

func (t *Text) line(format string, args ...any) {
	text := format
	if len(args) > 0 {
		text = fmt.Sprintf(format, args...)
	}
	if text == "" {
		t.b.WriteString("\n")
		return
	}
	if strings.HasPrefix(text, "}") {
		t.depth--
	}
	t.b.WriteString(strings.Repeat("    ", t.depth) + text + "\n")
	if strings.HasSuffix(text, "{") {
		t.depth++
	}
}

// Indent begins a block whose brace has been written.
func (t *Text) Indent() { t.depth++ }

// Declare writes a function's name and parameters, over several lines if there are many.
func (t *Text) Declare(function string, parameters []string) {
	t.line("%s(%s)", function, wrap(parameters, "        ", 100))
}
