package reproduce

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"heddle/experiment/config"
	"heddle/internal/files"
	"heddle/kernels/workload"
)

// File names an outcome's file, without its extension.
func File(pack string, v config.Variant) string {
	return strings.ReplaceAll(pack, "/", "-") + "-" + string(v)
}

// Save writes an outcome and its drawings into a directory.
func (o *Outcome) Save(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	name := File(o.Pack, o.Variant)
	for i := range o.Figures {
		f := &o.Figures[i]
		svg := f.SVG()
		if svg == nil {
			continue
		}
		f.Drawing = name + "-" + f.Name + ".svg"
		if err := files.Write(filepath.Join(dir, f.Drawing), svg); err != nil {
			return err
		}
	}
	return o.write(dir)
}

func (o *Outcome) write(dir string) error {
	text, err := json.MarshalIndent(o, "", " ")
	if err != nil {
		return err
	}
	return files.Write(filepath.Join(dir, File(o.Pack, o.Variant)+".json"), append(text, '\n'))
}

// Rejudge brings the outcomes recorded in a directory up to date with the packs' present rules (Outcome.Judge). It
// returns those with readings that simulate something else by now, in words.
func Rejudge(packs []*config.Pack, dir string) (changed []string, err error) {
	var bad []error
	for _, p := range packs {
		for _, v := range variants {
			o, err := Read(dir, p.Name, v)
			if err == nil && o != nil {
				err = o.Judge(p)
			}
			if err == nil && o != nil {
				err = o.write(dir)
				changed = append(changed, o.changed()...)
			}
			bad = append(bad, err)
		}
	}
	return changed, errors.Join(bad...)
}

// maxOutcome bounds the size of an outcome's file.
const maxOutcome = 16 << 20

// Read reads the outcome of a variant; nil if there is none.
func Read(dir, pack string, v config.Variant) (*Outcome, error) {
	name := filepath.Join(dir, File(pack, v)+".json")
	text, err := files.Read(name, maxOutcome)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var o Outcome
	if err := json.Unmarshal(text, &o); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &o, o.vet(name)
}

// vet refuses an inconsistent outcome.
func (o *Outcome) vet(name string) error {
	for _, f := range o.Figures {
		fits := len(f.Values) == len(f.Columns)
		for _, row := range f.Values {
			fits = fits && len(row) == len(f.Series)
		}
		if !fits {
			return fmt.Errorf("%s: figure %s: values do not fit its columns and series", name, f.Name)
		}
	}
	for _, c := range o.Checks {
		if len(c.Readings) == 0 || len(c.Readings) != len(o.Readings) {
			return fmt.Errorf("%s: statement %q: numbers do not fit the readings", name, c.Says)
		}
	}
	return nil
}

var variants = []config.Variant{config.Quick, config.Full}

// Summary is a pack's entry in a list.
type Summary struct {
	Pack         string   `json:"pack"`
	Paper        string   `json:"paper"`
	Figure       string   `json:"figure"`
	Title        string   `json:"title"`
	Statement    string   `json:"statement"`
	QuickSeconds int      `json:"quick_seconds"`
	FullHours    float64  `json:"full_hours,omitempty"`
	Variants     []string `json:"variants"`
}

// Summarise returns a pack's summary.
func Summarise(p *config.Pack) Summary {
	s := Summary{
		Pack: p.Name, Paper: p.Paper.Venue, Figure: p.Figure, Title: p.Title, Statement: flow(p.Statement),
		QuickSeconds: p.QuickSeconds, FullHours: p.FullHours,
	}
	for _, v := range variants {
		if p.Has(v) {
			s.Variants = append(s.Variants, string(v))
		}
	}
	return s
}

// Current reports whether an outcome belongs to the pack's present checks.
func (o *Outcome) Current(p *config.Pack) bool {
	var says, now []string
	for _, r := range o.Readings {
		says = append(says, r.Name, r.Says)
	}
	for _, r := range p.Readings[o.Variant] {
		now = append(now, r.Name, flow(r.Says))
	}
	for _, c := range o.Checks {
		says = append(says, c.Says, c.Rule)
	}
	for _, c := range p.Checks {
		if slices.Contains(c.Variants, workload.Choice(o.Variant)) {
			now = append(now, c.Says, rule(&c))
		}
	}
	return slices.Equal(says, now)
}
