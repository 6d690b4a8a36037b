// Package choose finds names that a user means: by patterns, and near a mistyped name.
//
// It is independent of the kind of the names.
package choose

import (
	"fmt"
	"path"
	"regexp"
	"strings"
)

// Pattern matches names: a regular expression between slashes, or a name in which * stands for any part of it, ?
// for a character, and [..] for one of several.
type Pattern struct {
	Text string
	glob string
	expr *regexp.Regexp // nil: glob
}

// Parse reads a pattern.
func Parse(text string) (Pattern, error) {
	p := Pattern{Text: text, glob: text}
	if len(text) > 1 && text[0] == '/' && text[len(text)-1] == '/' {
		e, err := regexp.Compile(text[1 : len(text)-1])
		if err != nil {
			return p, fmt.Errorf("%s: expected a regular expression between the slashes: %w", text, err)
		}
		p.expr = e
		return p, nil
	}
	if _, err := path.Match(text, ""); err != nil || text == "" {
		return p, fmt.Errorf("%q: expected a name, in which * stands for any part, or /a regular expression/", text)
	}
	return p, nil
}

// Matches reports whether a name matches the pattern.
func (p *Pattern) Matches(name string) bool {
	if p.expr != nil {
		return p.expr.MatchString(name)
	}
	ok, _ := path.Match(p.glob, name)
	return ok
}

// ParseList reads patterns with commas between them. One that begins with a slash goes to the end of its text.
func ParseList(texts []string) (list []Pattern, err error) {
	for _, text := range texts {
		parts := []string{text}
		if !strings.HasPrefix(text, "/") {
			parts = strings.Split(text, ",")
		}
		for _, part := range parts {
			p, err := Parse(part)
			if err != nil {
				return nil, err
			}
			list = append(list, p)
		}
	}
	return list, nil
}
