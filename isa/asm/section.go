package asm

import "strings"

// section returns the section with a well-known name, nil for other names.
func (a *assembler) section(name string) *section {
	if s := a.named[name]; s != nil {
		return s
	}
	for _, k := range kinds {
		if name == k.prefix || strings.HasPrefix(name, k.prefix+".") {
			return a.newSection(section{name: name, exec: k.exec, bss: k.bss, absent: k.absent})
		}
	}
	return nil
}

// kinds are the sections that need no flags.
var kinds = []struct {
	prefix            string
	exec, bss, absent bool
}{
	{prefix: ".text", exec: true}, {prefix: ".init", exec: true}, {prefix: ".fini", exec: true},
	{prefix: ".data"}, {prefix: ".rodata"}, {prefix: ".sdata"}, {prefix: ".srodata"}, {prefix: ".data1"}, {prefix: ".rodata1"},
	{prefix: ".init_array"}, {prefix: ".fini_array"}, {prefix: ".preinit_array"}, {prefix: ".eh_frame"},
	{prefix: ".bss", bss: true}, {prefix: ".sbss", bss: true},
	{prefix: ".comment", absent: true}, {prefix: ".note", absent: true}, {prefix: ".debug", absent: true},
	{prefix: ".debug_info", absent: true}, {prefix: ".debug_abbrev", absent: true}, {prefix: ".debug_line", absent: true},
	{prefix: ".debug_str", absent: true}, {prefix: ".debug_aranges", absent: true}, {prefix: ".debug_ranges", absent: true},
	{prefix: ".debug_rnglists", absent: true}, {prefix: ".debug_loclists", absent: true}, {prefix: ".debug_frame", absent: true},
}

func (a *assembler) newSection(s section) *section {
	a.sections, a.named[s.name] = append(a.sections, &s), &s
	return &s
}

// enter makes a section current.
func (a *assembler) enter(s *section) {
	a.previous, a.sec = a.sec, s
}

// sectionDir is .section name[, "flags"[, @type]].
func sectionDir(a *assembler, t token, after source) error {
	name := strings.TrimRight(after.text[:max(0, strings.IndexAny(after.text+",", ", \t\""))], " \t")
	quoted := name == "" && strings.HasPrefix(after.text, `"`)
	if quoted {
		name, _, _ = strings.Cut(after.text[1:], `"`)
	}
	if name == "" || isDigit(name[0]) {
		return errAt(after.end(), "%s needs a name", t.text)
	}
	n := len(name)
	if quoted {
		n += 2
	}
	rest := after.rest(min(n, len(after.text)))
	s := a.section(name)
	if rest.text == "" {
		if s == nil {
			return errAt(after.col, `section %s needs flags: "a" for data, "aw" for data that are written, "ax" for code, "" to leave it out`, name)
		}
		a.enter(s)
		return nil
	}
	flags, kind, ok := sectionFlags(rest)
	if !ok {
		return errAt(rest.col, `expected %s name, "flags", @progbits or @nobits`, t.text)
	}
	if s == nil {
		s = a.newSection(section{
			name: name, exec: strings.Contains(flags, "x"), bss: kind == "nobits",
			absent: !strings.Contains(flags, "a"),
		})
	}
	a.enter(s)
	return nil
}

// sectionFlags reads the flags and type after the name; the sizes and groups after them are for the linker.
func sectionFlags(s source) (flags, kind string, ok bool) {
	parts := strings.Split(s.text, ",")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	if len(parts) < 2 || parts[0] != "" || len(parts[1]) < 2 || parts[1][0] != '"' || parts[1][len(parts[1])-1] != '"' {
		return "", "", false
	}
	flags = strings.Trim(parts[1], `"`)
	if strings.Trim(flags, "awxMSGTRo?") != "" {
		return "", "", false
	}
	if len(parts) > 2 {
		kind = strings.TrimLeft(parts[2], "@%")
		switch kind {
		case "progbits", "nobits", "note", "init_array", "fini_array", "preinit_array":
		default:
			return "", "", false
		}
	}
	return flags, kind, true
}

func pushSection(a *assembler, t token, after source) error {
	if len(a.pushed) >= 2*maxNesting {
		return errAt(t.col, "%s is nested more than %d deep", t.text, maxNesting)
	}
	a.pushed = append(a.pushed, a.sec, a.previous)
	return sectionDir(a, t, after)
}

func (a *assembler) popSection(t token, args [][]token, _ int) error {
	n := len(a.pushed) - 2
	switch {
	case len(args) > 0:
		return errAt(args[0][0].col, "%s takes nothing", t.text)
	case n < 0:
		return errAt(t.col, "%s without .pushsection", t.text)
	}
	a.sec, a.previous, a.pushed = a.pushed[n], a.pushed[n+1], a.pushed[:n]
	return nil
}

func (a *assembler) previousSection(t token, args [][]token, _ int) error {
	switch {
	case len(args) > 0:
		return errAt(args[0][0].col, "%s takes nothing", t.text)
	case a.previous == nil:
		return errAt(t.col, "%s: there is no section before this one", t.text)
	}
	a.enter(a.previous)
	return nil
}

// common is .comm and .lcomm name, size[, alignment]: zeros with a label, in .bss.
func common(a *assembler, t token, args [][]token, end int) error {
	if len(args) < 2 || len(args) > 3 || len(args[0]) != 1 || args[0][0].kind != tokIdent {
		return errAt(t.col, "expected %s name, size[, alignment]", t.text)
	}
	sec, previous := a.sec, a.previous
	defer func() { a.sec, a.previous = sec, previous }()
	a.sec = a.section(".bss")
	alignment := []token{{kind: tokNumber, val: 1, col: t.col}}
	if len(args) == 3 {
		alignment = args[2]
	}
	if err := align(false)(a, t, [][]token{alignment}, end); err != nil {
		return err
	}
	if err := a.label(args[0][0].text, args[0][0].col); err != nil {
		return err
	}
	return a.space(t, args[1:2], end)
}
