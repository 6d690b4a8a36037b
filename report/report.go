package report

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"heddle/experiment/store"
	"heddle/internal/files"
)

// Find returns the directory of results that a user specifies: a directory, or the name of an experiment with results
// in heddle run's default location.
func Find(name string) (string, error) {
	for _, dir := range []string{name, filepath.Join("results", name)} {
		for _, file := range []string{"summary.json", store.File} {
			if _, err := os.Stat(filepath.Join(dir, file)); err == nil {
				return dir, nil
			} else if !errors.Is(err, fs.ErrNotExist) {
				return "", err
			}
		}
	}
	return "", fmt.Errorf("%s: no results there: expected a directory with a summary.json or a results.sqlite, or a "+
		"name under results; heddle run makes them", name)
}

// Write writes the report of a directory's results to a file ("": report.html there), and its
// plots to the directory figures beside it. It returns the file's name and size.
func Write(dir, out string) (file string, size int, err error) { return WriteOver(dir, out, "") }

// WriteOver is Write with speedups over another variant, as ReadOver has them.
func WriteOver(dir, out, baseline string) (file string, size int, err error) {
	r, err := ReadOver(dir, baseline)
	if err != nil {
		return "", 0, err
	}
	if out == "" {
		out = filepath.Join(dir, "report.html")
	}
	figures := append(r.asked(), Figures(r)...)
	page, err := Page(r, figures)
	if err != nil {
		return "", 0, err
	}
	plots := FiguresDir(out)
	if err := os.MkdirAll(plots, 0o755); err != nil {
		return "", 0, err
	}
	written := map[string]bool{}
	for i := range figures {
		name := figures[i].ID + ".svg"
		written[name] = true
		if err := files.Write(filepath.Join(plots, name), figures[i].SVG()); err != nil {
			return "", 0, err
		}
	}
	for _, s := range r.specs {
		picture, _, err := r.Draw(s)
		if err != nil {
			continue // the page reports it
		}
		written[s.Out] = true
		if err := files.Write(filepath.Join(plots, s.Out), picture); err != nil {
			return "", 0, err
		}
	}
	if err := removeStale(plots, written); err != nil {
		return "", 0, err
	}
	return out, len(page), files.Write(out, page)
}

// asked are the figures of report.figures for the page, and notes which of them cannot be drawn.
func (r *Result) asked() (figures []Figure) {
	for i, s := range r.specs {
		panels, err := r.Query(s.Query)
		if err != nil {
			r.Wrong = append(r.Wrong, fmt.Sprintf("report.figures: %s: %v", s.Out, err))
			continue
		}
		for n, f := range panels {
			f.ID = fmt.Sprintf("asked-%d-%d", i+1, n+1)
			f.Group = fmt.Sprintf("asked-%d", i+1)
			f.Choice = cmp.Or(f.Choice, s.Out)
			figures = append(figures, *f)
		}
	}
	return figures
}

// removeStale removes figures of an earlier report that this one does not have. The directory may hold others' files,
// so files without our mark stay.
func removeStale(dir string, written map[string]bool) error {
	files, err := filepath.Glob(filepath.Join(dir, "*.svg"))
	if err != nil {
		return err
	}
	for _, f := range files {
		if written[filepath.Base(f)] || !ours(f) {
			continue
		}
		if err := os.Remove(f); err != nil {
			return err
		}
	}
	return nil
}

// ours reports whether a file begins as our figures do.
func ours(name string) bool {
	f, err := files.Open(name)
	if err != nil {
		return false
	}
	defer f.Close() //nolint:errcheck // read only
	head := make([]byte, len(svgMark))
	n, err := io.ReadFull(f, head)
	text := string(head[:n])
	return (err == nil || errors.Is(err, io.ErrUnexpectedEOF)) && (text == svgMark || strings.HasPrefix(text, oldMark))
}

// FiguresDir returns the directory of the figures of a report's file.
func FiguresDir(file string) string { return filepath.Join(filepath.Dir(file), "figures") }
