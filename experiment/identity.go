package experiment

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"heddle/experiment/config"
	"heddle/graph/graphspec"
	"heddle/kernels/compose"
)

// Key is KeyOf the point's configuration.
func (p *Point) Key() string {
	p.digest.onceKey.Do(func() { p.digest.key = KeyOf(p.Config) })
	return p.digest.key
}

// KeyOf returns a hash that is equal for points of equal configurations, as far as results depend on them. The graph is
// not part of it, since an identity has its content.
func KeyOf(e config.Experiment) string {
	sum := sha256.Sum256(append(config.Schema.Canonical(resultConfig(e)), expected(e.Workload.Host.CheckFile)...))
	return string(sum[:])
}

// expected returns the identity of host.check_file's content, by which a result is verified; empty: there is none,
// or it cannot be read, which ends the point before it runs.
func expected(path string) string {
	if path == "" {
		return ""
	}
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	key := fmt.Sprintf("%s %d %d", path, info.Size(), info.ModTime().UnixNano())
	if sum, ok := checkFiles.Load(key); ok {
		return sum.(string)
	}
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close() //nolint:errcheck // read only
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return ""
	}
	sum := fmt.Sprintf("%x", h.Sum(nil))
	checkFiles.Store(key, sum)
	return sum
}

// checkFiles holds the digests of files that expected has read, by path, size and time of the last change.
var checkFiles sync.Map

var defaultConfig = sync.OnceValue(config.Schema.Default)

// resultConfig returns a configuration without keys on which no result depends: names, paths of files whose contents
// are in the identity, and keys of features that are switched off.
func resultConfig(e config.Experiment) config.Experiment {
	d := defaultConfig()
	e.Name, e.Graph, e.Run, e.Report = "", graphspec.Graph{}, d.Run, d.Report
	e.Compare, e.Sweep, e.Exclude, e.Seeds = nil, nil, nil, nil
	w := &e.Workload
	if workOf(&e, nil).resolvesAuto() { // auto and the choice that it selects have the same kernels
		*w = compose.Resolve(*w)
	}
	if w.Trace != "" {
		w.Trace = "trace"
	}
	if w.Host.SHA256 != "" { // the suffix distinguishes kinds of programs
		w.Program, w.ScheduleFile = "program"+filepath.Ext(w.Program), ""
	}
	if e.Stats.Interval == 0 {
		shared := e.Stats.Shared
		e.Stats = d.Stats
		e.Stats.Shared = shared
	}
	if !e.Sample.On() {
		e.Sample = d.Sample
	}
	return e
}

// Identity returns the hash of everything that determines a result: a point's Key, the content of its graph and the
// numbers that its vertices were read with, and the program's model (version.Model).
func Identity(key, graph, numbering, model string) string {
	h := sha256.New()
	fmt.Fprintf(h, "heddle point 3\n%d %d %d %d\n%s%s%s%s", len(key), len(graph), len(numbering), len(model), key,
		graph, numbering, model)
	return fmt.Sprintf("%x", h.Sum(nil))
}

// specOf identifies the description of a generated graph.
func specOf(g graphspec.Graph) string {
	return fmt.Sprintf("%x", sha256.Sum256(graphspec.Schema.YAML(g)))
}
