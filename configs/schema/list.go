package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode"
	"unicode/utf8"

	"heddle/internal/fit"
)

// Text lists all keys for a terminal of that many columns (0: unlimited): key, type, range or values, default, the
// first sentence of the meaning. Where the table has no room, everything but the key moves to the lines below it.
func (s *Schema[T]) Text(columns int) []byte {
	var b bytes.Buffer
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, f := range s.Fields() {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", f.Path, f.typeUnit(), f.allowed(), f.defaultText(), f.gist())
	}
	w.Flush() // to memory
	text := trimLines(b.Bytes())
	if columns == 0 || !slices.ContainsFunc(bytes.Split(text, []byte("\n")), func(line []byte) bool {
		return utf8.RuneCount(line) > columns
	}) {
		return text
	}
	b.Reset()
	for _, f := range s.tree().fields {
		if f.isSection() {
			f.narrow(&b, columns)
		}
	}
	return b.Bytes()
}

// gist returns the first sentence of a key's meaning.
func (f *Field) gist() string { return sentences(f.Doc, f.Values())[0] }

// cut shortens a text to so many characters, between words.
func cut(text string, columns int) string {
	if utf8.RuneCountInString(text) <= columns {
		return text
	}
	return strings.TrimRight(fit.Lines(text, columns-2)[0], " ,;:") + " …"
}

// narrow lists a section's keys below its path and the first sentence of its description.
func (f *Field) narrow(b *bytes.Buffer, columns int) {
	margin := 0
	if f.parent != nil {
		margin = indent
		fmt.Fprintf(b, "\n%s", f.Path)
		if facts := f.facts(); facts != sectionType {
			fmt.Fprintf(b, " (%s)", facts)
		}
		fmt.Fprintln(b)
		beside(b, 2, "", sentences(cell(f.Doc), nil)[0], columns)
	}
	for _, c := range f.Fields {
		if !c.isSection() {
			beside(b, margin, c.Key, c.facts(), columns)
			if c.Doc != "" {
				fmt.Fprintf(b, "%*s%s\n", margin+indent, "", cut(c.gist(), columns-margin-indent))
			}
		}
	}
}

// beside writes a text to the right of a key, or below it if there is too little room.
func beside(b *bytes.Buffer, margin int, key, text string, columns int) {
	const column = 20 // where texts begin
	lead, first := fmt.Sprintf("%*s%s", margin, "", key), true
	at := margin + column
	if key == "" {
		at = margin
	}
	if len(lead) >= at && key != "" {
		fmt.Fprintln(b, lead)
		first = false
	}
	for _, line := range fit.Lines(text, columns-at) {
		if !first || key == "" {
			lead = ""
		}
		fmt.Fprintf(b, "%-*s%s\n", at, lead, line)
		first = false
	}
}

// Explain lists the keys whose path matches, with their meaning, in lines of at most columns characters.
func (s *Schema[T]) Explain(match func(path string) bool, columns int) []byte {
	var b bytes.Buffer
	for _, f := range s.Fields() {
		if !match(f.Path) && !match(f.Canonical()) {
			continue
		}
		if b.Len() > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintln(&b, f.Path)
		below(&b, f.facts(), columns)
		if f.isMain() {
			below(&b, f.parent.Doc, columns)
		}
		below(&b, f.Doc, columns)
		if old := f.Canonical(); old != f.Path {
			below(&b, "Also called "+old+".", columns)
		}
	}
	return b.Bytes()
}

// facts returns everything that the schema declares of a key except its meaning.
func (f *Field) facts() string {
	facts := []string{f.typeUnit()}
	if text := f.allowed(); text != "" {
		facts = append(facts, text)
	}
	if text := f.defaultText(); f.Required {
		facts = append(facts, text)
	} else if text != "" {
		facts = append(facts, "default "+text)
	}
	return strings.Join(facts, "; ")
}

// below writes a text below a key.
func below(b *bytes.Buffer, text string, columns int) {
	for _, line := range fit.Lines(text, columns-indent) {
		fmt.Fprintf(b, "%*s%s\n", indent, "", line)
	}
}

const indent = 4

// trimLines drops the padding of empty last columns.
func trimLines(text []byte) []byte {
	lines := strings.Split(string(text), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return []byte(strings.Join(lines, "\n"))
}

// typeUnit joins the type and the unit; a size implies its unit.
func (f *Field) typeUnit() string {
	if f.Unit == "" || f.Unit == "bytes" {
		return f.Type()
	}
	return f.Type() + ", " + f.Unit
}

func (f *Field) allowed() string {
	if v := f.Values(); v != nil {
		return strings.Join(v, ", ")
	}
	if f.Presets != "" {
		return "or a name of " + f.Presets
	}
	return f.Range()
}

func (f *Field) defaultText() string {
	def, ok := f.meant().Default()
	switch {
	case ok:
		return def
	case f.Required:
		return "required"
	case f.Optional:
		return "absent"
	}
	return ""
}

// jsonField is one row of JSON; the names are stable.
type jsonField struct {
	Key      string   `json:"key"`
	Type     string   `json:"type"`
	Unit     string   `json:"unit,omitempty"`
	Range    string   `json:"range,omitempty"`
	Values   []string `json:"values,omitempty"`
	Default  *string  `json:"default,omitempty"` // as YAML
	Required bool     `json:"required,omitempty"`
	Optional bool     `json:"optional,omitempty"`
	Presets  string   `json:"presets,omitempty"`
	Was      string   `json:"was,omitempty"` // its former name, which is accepted
	Env      string   `json:"env"`
	Doc      string   `json:"doc"`
}

// JSON lists all keys for scripts, as an array in declared order.
func (s *Schema[T]) JSON() []byte {
	rows := []jsonField{}
	for _, f := range s.Fields() {
		row := jsonField{
			Key: f.Path, Type: f.Type(), Unit: f.Unit, Range: f.Range(), Values: f.Values(),
			Required: f.Required, Optional: f.Optional, Presets: f.Presets, Env: EnvName(f.Path), Doc: f.Doc,
		}
		if def, ok := f.Default(); ok {
			row.Default = &def
		}
		if old := f.Canonical(); old != f.Path {
			row.Was = old
		}
		rows = append(rows, row)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(rows); err != nil {
		panic(fmt.Sprintf("BUG: schema: listing as JSON: %v", err))
	}
	return b.Bytes()
}

// Markdown writes the reference: a table of contents, then a table for each section that has keys. top is the heading
// of the root's table.
func (s *Schema[T]) Markdown(top string) []byte {
	var b bytes.Buffer
	for _, f := range s.tree().fields {
		if f.isSection() {
			f.contents(&b, top)
		}
	}
	b.WriteString("\n")
	for _, f := range s.tree().fields {
		if f.isSection() {
			f.markdown(&b, top)
		}
	}
	return b.Bytes()
}

// contents writes a section's line of the table of contents, below the section that it belongs to.
func (f *Field) contents(b *bytes.Buffer, top string) {
	if f.parent == nil {
		fmt.Fprintf(b, "- [%s](#%s): the keys at the top\n", top, strings.ToLower(top))
		return
	}
	anchor := strings.ReplaceAll(f.Path, ".", "") // as GitHub and others make it of the heading
	fmt.Fprintf(b, "%s- [`%s`](#%s): %s\n", strings.Repeat("  ", f.nesting()), f.Path, anchor,
		sentences(cell(f.Doc), nil)[0])
}

// nesting counts the sections around a section, less the root.
func (f *Field) nesting() int { return strings.Count(f.Path, ".") }

func (f *Field) markdown(b *bytes.Buffer, top string) {
	if f.parent == nil {
		fmt.Fprintf(b, "## %s\n", top)
	} else {
		fmt.Fprintf(b, "\n%s `%s`\n\n%s%s\n", strings.Repeat("#", 2+f.nesting()), f.Path, f.Doc, f.sectionNotes())
	}
	if len(f.Fields) == 0 {
		return
	}
	b.WriteString("\n| key | type | range or values | default | meaning |\n|---|---|---|---|---|\n")
	var details bytes.Buffer
	for _, c := range f.Fields {
		fmt.Fprintf(b, "| `%s` | %s | %s | %s | %s |\n",
			c.Key, cell(c.typeUnit()), cell(c.allowed()), code(c.defaultText()), c.meaning(&details))
	}
	if details.Len() > 0 {
		fmt.Fprintf(b, "\n%s", details.String())
	}
	f.formerNames(b)
}

// formerNames lists the former names of a section's keys.
func (f *Field) formerNames(b *bytes.Buffer) {
	if len(f.former) == 0 {
		return
	}
	b.WriteString("\nFormer names of keys, which are accepted:")
	for i, name := range slices.Sorted(maps.Keys(f.former)) {
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(b, " `%s` (`%s`)", name, strings.TrimPrefix(f.former[name].Path, f.Path+"."))
	}
	b.WriteString(".\n")
}

// meaning returns the part of a key's meaning that a table shows: all of a short one; otherwise the first sentence, and
// the others become an item below the table, with one item for each value that they explain.
func (f *Field) meaning(details *bytes.Buffer) string {
	text := cell(f.Doc)
	all := sentences(text, f.Values())
	if len(text) <= longestMeaning || len(all) == 1 {
		return text
	}
	var general, values []string // those behind a value's are of that value if another one's follows
	for _, s := range all[1:] {
		name, meaning, ok := explains(s, f.Values())
		if !ok {
			general = append(general, s)
			continue
		}
		if n := len(values); n > 0 && len(general) > 0 {
			values[n-1] += " " + strings.Join(general, " ")
			general = nil
		}
		values = append(values, fmt.Sprintf("\n  - `%s`: %s", strings.ReplaceAll(name, ", ", "`, `"), meaning))
	}
	item := strings.TrimSuffix(fmt.Sprintf("- `%s`: %s", f.Key, strings.Join(general, " ")), ": ")
	fmt.Fprintf(details, "%s%s\n", item, strings.Join(values, ""))
	return all[0] + " …"
}

// longestMeaning is the number of bytes of a key's meaning that a table shows; of a longer one it shows the first
// sentence, and the others follow below.
const longestMeaning = 200

// sentences splits a text into its sentences. One begins with a capital letter, or with the values that it explains.
func sentences(text string, values []string) (all []string) {
	begin := 0
	for i, r := range text {
		before, ok := strings.CutSuffix(text[begin:i], ". ")
		if !ok || initial(before) {
			continue
		}
		if _, _, value := explains(text[i:], values); value || unicode.IsUpper(r) {
			all, begin = append(all, before+"."), i
		}
	}
	return append(all, text[begin:])
}

// initial reports whether a text ends in a word of one letter.
func initial(text string) bool { return len(text) > 1 && text[len(text)-2] == ' ' }

// explains takes apart a text that begins with values of a key and a colon: warp, cta: a warp's or a core's lanes.
func explains(text string, values []string) (names, meaning string, ok bool) {
	names, meaning, ok = strings.Cut(text, ": ")
	for _, name := range strings.Split(names, ", ") {
		ok = ok && slices.Contains(values, name)
	}
	return names, meaning, ok
}

func (f *Field) sectionNotes() string {
	var notes string
	if f.Optional {
		notes += " Optional: absent until a key of it is written, or `{}`; `null` removes it."
	}
	if f.main != nil {
		notes += fmt.Sprintf(" `%s: VALUE` is short for `%s: {%s: VALUE}`.", f.Key, f.Key, f.main.Key)
	}
	if len(f.aliases) > 0 {
		notes += fmt.Sprintf(" Also called `%s`.", strings.Join(f.aliases, "`, `"))
	}
	if f.Presets != "" {
		notes += fmt.Sprintf(" May be the name of one of the %s.", f.Presets)
	}
	return notes
}

// cell keeps a text inside its table cell.
func cell(text string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "|", `\|`)
}

func code(text string) string {
	if text == "" || text == "required" || text == "absent" {
		return text
	}
	return "`" + cell(text) + "`"
}
