package reproduce

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"slices"
	"strings"

	"heddle/experiment"
	"heddle/experiment/config"
	"heddle/graph/graphspec"
)

// identities returns a hash for each reading of a variant, which changes when what the reading simulates does: of the
// points as described, the keys whose values are not the defaults, wherever these stand (pack or preset); of another
// reading, these and its rules. A key that heddle gets later, and which is off in a pack, changes no identity.
func identities(p *config.Pack, v config.Variant) ([]string, error) {
	described := sha256.New()
	list, _, err := p.Experiments(v, config.PackOptions{AsWritten: true})
	if err != nil {
		return nil, err
	}
	for _, l := range list {
		points, err := experiment.Points(l, nil)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", p.File, l.Value.Name, err)
		}
		fmt.Fprintf(described, "experiment %s\n", l.Value.Name)
		for i := range points {
			writeSettings(described, points[i].YAML())
		}
	}
	var out []string
	for i := range p.Readings[v] {
		out = append(out, readingIdentity(described.Sum(nil), p, &p.Readings[v][i]))
	}
	return out, nil
}

// readingIdentity returns the identity of a reading of points whose hash as described is given.
func readingIdentity(described []byte, p *config.Pack, r *config.Reading) string {
	h := sha256.New()
	h.Write(described)
	if r.Name != config.Described {
		apart := slices.Sorted(slices.Values(p.Apart))
		if err := json.NewEncoder(h).Encode([]any{apart, r.Rules}); err != nil {
			panic(fmt.Sprintf("BUG: reproduce: %v", err))
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:6])
}

// writeSettings adds the settings of a point that are not the defaults to a hash, in the order of their paths.
func writeSettings(h hash.Hash, canonical string) {
	var set []string
	var like graphspec.Like
	eachSetting(canonical, func(path, value string) {
		top, _, _ := strings.Cut(path, ".")
		switch path {
		case "graph.like.name":
			like.Name = value
		case gini:
			if o, _ := like.Original(); o.Degrees == graphspec.Road { // which has none
				return
			}
		}
		if !slices.Contains(withoutEffect, top) && !usual(path, value) {
			set = append(set, path+": "+value)
		}
	})
	slices.Sort(set)
	fmt.Fprintf(h, "point\n%s\n", strings.Join(set, "\n"))
}

// withoutEffect are the parts of an experiment on which no number depends.
var withoutEffect = []string{"name", "run", "report", "stats"}

// gini is a key whose default was formerGini when the first outcomes with it were recorded.
const gini, formerGini = "graph.like.gini", "0"

// usual reports whether a configuration says no more by a setting than without it. A section (of no value) that may be
// absent says that it is there. Of a key with another default by now, the former one is usual, so that identities
// stand.
func usual(path, value string) bool {
	if path == gini {
		return value == formerGini
	}
	f, ok := config.Schema.Lookup(path)
	switch {
	case !ok:
		return false
	case value == "":
		return !f.Optional
	}
	text, _ := f.Default()
	return value == "null" || strings.Trim(value, `"`) == text
}

// eachSetting visits the lines of a canonical configuration (schema.Canonical), those that open a section too, of which
// the value is empty.
func eachSetting(canonical string, visit func(path, value string)) {
	var path []string // the sections around a line, from the outermost
	for line := range strings.Lines(canonical) {
		text := strings.TrimLeft(line, " ")
		depth := (len(line) - len(text)) / len("  ")
		key, value, _ := strings.Cut(strings.TrimSpace(text), ":")
		path = append(path[:min(depth, len(path))], key)
		visit(strings.Join(path, "."), strings.TrimSpace(value))
	}
}
