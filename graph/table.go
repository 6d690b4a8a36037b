package graph

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"heddle/graph/graphspec"
)

// Names of columns in the headers that programs write, in small letters, without anything but letters and digits. Such
// as may be a vertex's (u, v1, node2) are none: then the lines after the first decide.
var (
	sourceColumns = strings.Fields("source src from tail start startid sourceid sourcenode srcid srcnode fromid " +
		"fromnode fromnodeid")
	targetColumns = strings.Fields("target dst dest destination to head end endid targetid targetnode dstid dstnode " +
		"toid tonode tonodeid")
	weightColumns = strings.Fields("weight weights w wgt wt cost distance dist length capacity")
)

// table is an edge list with a header that names its columns, or with names for vertices, or both: CSV, TSV, words.
type table struct {
	*reader
	separator              byte // 0: blanks
	source, target, weight int  // columns; weight is -1 if there is none
	columns                int
	first                  int // line that has as many
	names                  *vertexNames
	fields                 [][]byte
	unquoted               []byte
}

// tableLine is a line's fields, kept.
type tableLine struct {
	fields [][]byte
	n      int
}

// table determines the columns from the first two lines, and then reads the edges.
func (r *reader) table() error {
	t := &table{reader: r, weight: -1}
	first, err := t.keptLine()
	if err != nil {
		return err
	}
	if first.fields == nil {
		return r.whole("no edges: expected lines of two vertices")
	}
	second, err := t.keptLine()
	if err != nil {
		return err
	}
	header := isHeader(first.fields, second.fields)
	if t.columns, t.first = len(first.fields), first.n; t.columns < 2 {
		r.n = first.n
		return r.errorf("expected two vertices; found one column")
	}
	edges := []tableLine{first, second}
	if header {
		t.useHeader(first, second)
		edges = edges[1:]
	} else {
		t.useFirstEdge(first)
	}
	if err := t.chooseNames(edges[0]); err != nil {
		return err
	}
	for _, e := range edges {
		if e.fields == nil {
			return r.finishTable(t, header)
		}
		r.n = e.n
		if err := t.edge(e.fields); err != nil {
			return err
		}
	}
	if err := t.rest(); err != nil {
		return err
	}
	t.doubtFirst(first, header)
	return r.finishTable(t, header)
}

// rest reads the lines after the first two.
func (t *table) rest() error {
	for {
		c, ok, err := t.next(t.comment)
		if !ok || err != nil {
			return err
		}
		fields, err := t.split(c.b)
		if err != nil {
			return err
		}
		if err := t.edge(fields); err != nil {
			return err
		}
	}
}

func (t *table) comment(text string) { t.reader.header.comment(text, t.n) }

// keptLine reads a line and keeps its fields; they are nil at the end of the file. The first line determines the
// separator.
func (t *table) keptLine() (tableLine, error) {
	c, ok, err := t.next(t.comment)
	if !ok || err != nil {
		return tableLine{}, err
	}
	if t.fields == nil {
		t.separator = separatorOf(c.b)
	}
	fields, err := t.split(c.b)
	kept := tableLine{n: t.n}
	for _, f := range fields {
		kept.fields = append(kept.fields, bytes.Clone(f))
	}
	return kept, err
}

// separatorOf is a tab, comma or semicolon if the line has one, outside of quotes; else 0, which is blanks.
func separatorOf(line []byte) byte {
	quoted := false
	found := byte(0)
	for _, c := range line {
		switch {
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '\t':
			return c
		case c == ',', c == ';' && found == 0:
			found = c
		}
	}
	return found
}

// split splits a line into fields, valid until the next call. Quotes around a field are removed; two inside are one.
func (t *table) split(line []byte) ([][]byte, error) {
	t.fields, t.unquoted = t.fields[:0], t.unquoted[:0]
	for i := 0; ; {
		for i < len(line) && (line[i] == ' ' || line[i] == '\t' && t.separator != '\t') {
			i++
		}
		if t.separator == 0 && i == len(line) {
			return t.fields, nil
		}
		var field []byte
		if i < len(line) && line[i] == '"' {
			var err error
			if field, i, err = t.quoted(line, i+1); err != nil {
				return nil, err
			}
		} else {
			from := i
			for i < len(line) && !t.separates(line[i]) {
				i++
			}
			field = bytes.TrimRight(line[from:i], " ")
		}
		t.fields = append(t.fields, field)
		if i == len(line) {
			return t.fields, nil
		}
		i++ // the separator
	}
}

func (t *table) separates(c byte) bool {
	return c == t.separator || t.separator == 0 && (c == ' ' || c == '\t')
}

// quoted reads a field after its opening quote, and returns the position of the separator.
func (t *table) quoted(line []byte, i int) (field []byte, end int, err error) {
	from := len(t.unquoted)
	for ; i < len(line); i++ {
		if line[i] != '"' {
			t.unquoted = append(t.unquoted, line[i])
			continue
		}
		if i+1 < len(line) && line[i+1] == '"' {
			t.unquoted = append(t.unquoted, '"')
			i++
			continue
		}
		for i++; i < len(line) && line[i] == ' ' && t.separator != 0; i++ {
		}
		if i < len(line) && !t.separates(line[i]) {
			return nil, 0, t.errorf("expected a separator of columns behind a quoted name; found %s",
				quotedWord(line[i:]))
		}
		return t.unquoted[from:len(t.unquoted):len(t.unquoted)], i, nil
	}
	return nil, 0, t.errorf("expected the quote at the end of a name; found the end of the line")
}

// quotedWord shows a field in a message.
func quotedWord(b []byte) string {
	const most = 40
	if len(b) > most {
		return strconv.Quote(string(b[:most])) + "…"
	}
	return strconv.Quote(string(b))
}

// looksLikeTable reports whether the first line has something other than numbers in its first two columns.
func looksLikeTable(start []byte) bool {
	line, _, _ := bytes.Cut(start, []byte("\n"))
	c := cursor{b: line}
	first, second := c.word(), c.word()
	return len(second) > 0 && (!numeric(first) || !numeric(second))
}

// numeric reports whether a word is intended as a number: of a vertex, or malformed, but not a name.
func numeric(word []byte) bool {
	if len(word) == 0 || word[0]-'0' > 9 && !bytes.ContainsRune([]byte("+-."), rune(word[0])) {
		return false
	}
	_, err := strconv.ParseFloat(string(word), 64)
	return err == nil || isRange(err)
}

func isRange(err error) bool { return strings.HasSuffix(err.Error(), strconv.ErrRange.Error()) }

// vertexNumber reads a field as a vertex's number.
func (t *table) vertexNumber(field []byte) (uint64, bool) {
	c := cursor{b: field}
	id, ok := c.number(maxID)
	return id, ok && c.end()
}

// isHeader reports whether the first line names the columns: they have the names that programs use, or one is empty, as
// pandas writes its index, or the next line has numbers where the first has words.
func isHeader(first, second [][]byte) bool {
	if findColumn(first, sourceColumns) >= 0 && findColumn(first, targetColumns) >= 0 {
		return true
	}
	if len(first) < 2 || len(first) != len(second) {
		return false
	}
	words := func(column int) bool { return !numeric(first[column]) && numeric(second[column]) }
	return len(first[0]) == 0 || len(first[1]) == 0 || words(0) && words(1) || len(first) > 2 && words(2)
}

// findColumn returns the column with one of the names; -1: none.
func findColumn(header [][]byte, names []string) int {
	return slices.IndexFunc(header, func(field []byte) bool { return slices.Contains(names, plainWord(field)) })
}

// plainWord strips a column name of programs' decorations: "FromNodeId", ":START_ID", "from_id".
func plainWord(field []byte) string {
	return strings.Map(func(c rune) rune {
		switch {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9':
			return c
		case 'A' <= c && c <= 'Z':
			return c + 'a' - 'A'
		}
		return -1
	}, string(field))
}

// useHeader finds the columns by their names, or takes the first two named ones.
func (t *table) useHeader(header, first tableLine) {
	t.source, t.target = findColumn(header.fields, sourceColumns), findColumn(header.fields, targetColumns)
	t.weight = findColumn(header.fields, weightColumns)
	if t.source < 0 || t.target < 0 {
		var named []int
		for i, f := range header.fields {
			if len(f) > 0 && i != t.weight {
				named = append(named, i)
			}
		}
		if len(named) < 2 {
			named = []int{0, 1}
		}
		t.source, t.target = named[0], named[1]
		t.warn("line %d is taken for a header: edges go from %s to %s",
			header.n, quotedWord(header.fields[t.source]), quotedWord(header.fields[t.target]))
	}
	var ignored []string
	for i, f := range header.fields {
		if i == t.source || i == t.target || i == t.weight {
			continue
		}
		if i < len(first.fields) && plainWord(f) == "type" && plainWord(first.fields[i]) == "undirected" {
			t.warn("edges are undirected, and listed once: clean.symmetrise adds their reverses")
		}
		ignored = append(ignored, quotedWord(f))
	}
	if ignored != nil {
		t.warn("ignored: columns %s", strings.Join(ignored, ", "))
	}
}

// useFirstEdge takes the columns as those of an edge list.
func (t *table) useFirstEdge(first tableLine) {
	t.source, t.target = 0, 1
	if len(first.fields) > 2 {
		t.weight = 2
	}
	if len(first.fields) > 3 {
		t.warn("line %d has more than three columns: those after the weight are ignored", first.n)
	}
}

// chooseNames decides by the first edge whether vertices have names or numbers, unless the user specified it.
func (t *table) chooseNames(e tableLine) error {
	named := t.ids == graphspec.NamedIDs
	if e.fields != nil && !named {
		for _, column := range []int{t.source, t.target} {
			named = named || column < len(e.fields) && !numeric(e.fields[column])
		}
		if named && t.ids == graphspec.KeepIDs {
			t.n = e.n
			return t.errorf("ids: keep: expected numbers of vertices; found %s and %s",
				quotedWord(e.fields[t.source]), quotedWord(e.fields[t.target]))
		}
	}
	if named {
		t.names = &vertexNames{number: map[string]uint32{}}
	}
	return nil
}

// edge adds a line's edge.
func (t *table) edge(fields [][]byte) error {
	if len(fields) != t.columns {
		return t.errorf("expected %d columns, as line %d has; found %d", t.columns, t.first, len(fields))
	}
	src, err := t.vertex(fields[t.source])
	if err != nil {
		return err
	}
	dst, err := t.vertex(fields[t.target])
	if err != nil {
		return err
	}
	if err := t.edgeWeight(fields); err != nil {
		return err
	}
	return t.add(src, dst)
}

func (t *table) vertex(field []byte) (uint64, error) {
	if t.names != nil {
		id, wrong := t.names.id(field)
		if wrong != "" {
			return 0, t.errorf("expected a vertex's name: %s; found %s", wrong, quotedWord(field))
		}
		return uint64(id), nil
	}
	id, ok := t.vertexNumber(field)
	if !ok {
		return 0, t.errorf("expected a vertex number, 0..%d, as the lines before have (ids: names reads names); found %s",
			uint64(maxID), quotedWord(field))
	}
	return id, nil
}

func (t *table) edgeWeight(fields [][]byte) error {
	if t.weight < 0 {
		return nil
	}
	t.record.FileWeights = true
	if !t.weights {
		return nil
	}
	c := cursor{b: fields[t.weight]}
	if !t.column.add(&c) || !c.end() {
		return t.errorf("expected %s (weights.from: unit ignores this column); found %s", weightExpected,
			quotedWord(fields[t.weight]))
	}
	return nil
}

// doubtFirst warns of a first line whose names are not among the other lines': it may be a header.
func (t *table) doubtFirst(first tableLine, header bool) {
	if t.names != nil && !header && !t.names.firstAgain && t.edges.len() > 1 && !numeric(first.fields[0]) {
		t.warn("line %d is taken for an edge, though its vertices have no other: begin it with # if it names the columns",
			first.n)
	}
}

func (r *reader) finishTable(t *table, header bool) error {
	switch {
	case r.edges.len() == 0 && header:
		return r.whole("no edges: the file has nothing behind its header")
	case t.names == nil:
		return r.number(r.header)
	}
	r.names = t.names.list
	r.record.IDs = "by name, in the order of their first appearance"
	return r.setVertices(len(r.names), 0)
}

// vertexNames numbers names in the order of their first appearance.
type vertexNames struct {
	number     map[string]uint32
	list       []string
	firstAgain bool // one of the first two came again
}

// id returns a name's number, or an error text for the name.
func (n *vertexNames) id(name []byte) (id uint32, wrong string) {
	if id, ok := n.number[string(name)]; ok {
		n.firstAgain = n.firstAgain || id < 2
		return id, ""
	}
	switch {
	case len(name) == 0:
		return 0, "one letter at least"
	case !utf8.Valid(name) || bytes.ContainsFunc(name, control):
		return 0, "text in UTF-8"
	case len(n.list) == graphspec.MaxVertices:
		return 0, fmt.Sprintf("one of at most %d", graphspec.MaxVertices)
	}
	own := string(name)
	id = uint32(len(n.list))
	n.number[own], n.list = id, append(n.list, own)
	return id, ""
}
