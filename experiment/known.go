package experiment

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"heddle/experiment/config"
	"heddle/experiment/store"
	"heddle/graph/graphspec"
)

// Search configures where a run looks for results of its points, beside its own directory.
type Search struct {
	// Folders hold a directory for each experiment, as results/ does. Verified results there are copied.
	Folders []string
	// Reuse lists prefixes of versions or models (version.Text, version.Model) of other programs whose results are
	// accepted as this program's. Points record which program has simulated them.
	Reuse []string
	// Grows keeps the results found there, for points that are added later (Book.Grow).
	Grows bool
}

// leastReuse is the length of the shortest prefix of a version, as git abbreviates commits.
const leastReuse = 7

// Check returns an error for a search that cannot be meant.
func (s *Search) Check() error {
	for _, v := range s.Reuse {
		if len(v) < leastReuse {
			return fmt.Errorf("version %q: expected at least %d characters of a commit or of a model, as heddle "+
				"results show prints them", v, leastReuse)
		}
	}
	for _, dir := range s.Folders {
		if info, err := os.Stat(dir); err == nil && !info.IsDir() {
			return fmt.Errorf("%s: expected a directory that has results of experiments", dir)
		}
	}
	return nil
}

// stores returns the stores of a folder's experiments and of their shards, sorted, without the one in dir.
func (s *Search) stores(dir string) (paths []string) {
	own := absolute(filepath.Join(dir, store.File))
	for _, f := range s.Folders {
		for _, pattern := range []string{
			filepath.Join(f, "*", store.File), filepath.Join(f, "*", ShardDir, "*", store.File),
		} {
			found, _ := filepath.Glob(pattern) // an odd name of a folder finds nothing
			paths = append(paths, found...)
		}
	}
	slices.SortFunc(paths, func(a, b string) int { return cmp.Compare(absolute(a), absolute(b)) })
	paths = slices.CompactFunc(paths, func(a, b string) bool { return absolute(a) == absolute(b) })
	return slices.DeleteFunc(paths, func(p string) bool { return absolute(p) == own })
}

func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// Known holds where the results of an experiment's points are stored.
type Known struct {
	own    string // path of the experiment's store
	points map[int]knownPoint
	wanted []string           // identities by point; "": unknown, as the graph has never been loaded
	graphs []graphDescription // by point; without a hash where the identity is unknown

	placed int // points of the experiment's own store that are in the experiment which it records
	// Others counts the points of the experiment's own store that another program has simulated, whose model, or
	// version if that is not recorded, is Other.
	Others  int
	Other   string
	Skipped []error // stores that could not be read, and were left out
	Grown   int     // known points among those that were added later

	finder *finder // of Search.Grows; nil: nothing more is found
}

// knownPoint locates the result of a point.
type knownPoint struct {
	path   string // of the store
	entry  store.Entry
	reused bool
}

// Len returns the number of known points, without those that failed in a way that may not recur.
func (k *Known) Len() (n int) {
	for _, p := range k.points {
		if Final(p.entry.Failure) {
			n++
		}
	}
	return n
}

// Computed returns the known points that have cycles, without statistics. They have run before, so they need no
// vetting.
func (k *Known) Computed() map[int]Outcome {
	all := map[int]Outcome{}
	for i, p := range k.points {
		if p.entry.Cycles > 0 {
			all[i] = Outcome{Point: i, Cycles: p.entry.Cycles, Verified: p.entry.Verified,
				Err: storedError(p.entry.Failure, "")}
		}
	}
	return all
}

// Outcomes reads the outcomes of the known points, without super-steps.
func (k *Known) Outcomes() (map[int]Outcome, error) {
	all := map[int]Outcome{}
	for path, points := range k.byStore() {
		rows := map[int64][]int{}
		for _, i := range points {
			id := k.points[i].entry.ID
			rows[id] = append(rows[id], i)
		}
		s, err := store.OpenRead(path)
		if err != nil {
			return nil, err
		}
		err = s.EachOf(slices.Sorted(maps.Keys(rows)), store.Want{Stats: true}, func(id int64, p *store.Point) error {
			for _, i := range rows[id] {
				o := outcome(p)
				o.Point = i
				all[i] = o
			}
			return nil
		})
		if err = errors.Join(err, s.Close()); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// inPlace reports whether points are exactly those of the own store, each where it is: then all that an unchanged
// experiment determines about them is as it should be.
func (k *Known) inPlace(points []int) bool {
	for _, i := range points {
		if p := k.points[i]; p.entry.Position != i || p.entry.Identity != k.wanted[i] {
			return false
		}
	}
	return len(points) == k.placed
}

// byStore returns the known points by the path of their store, sorted.
func (k *Known) byStore() map[string][]int {
	by := map[string][]int{}
	for _, i := range slices.Sorted(maps.Keys(k.points)) {
		by[k.points[i].path] = append(by[k.points[i].path], i)
	}
	return by
}

// Text returns how many of an experiment's points are known: "41 of 54 points known (12 from sssp-sweep)".
func (k *Known) Text(points int) string {
	var from []string
	reused := 0
	for _, p := range k.points {
		if p.reused {
			reused++
		}
	}
	by := k.byStore()
	for _, path := range slices.Sorted(maps.Keys(by)) {
		if path != k.own {
			from = append(from, fmt.Sprintf("%d from %s", len(by[path]), storeName(path)))
		}
	}
	if reused > 0 {
		from = append(from, fmt.Sprintf("%d of another version", reused))
	}
	text := fmt.Sprintf("%d of %d points known", k.Len(), points)
	if len(from) > 0 {
		text += " (" + some(from) + ")"
	}
	return text
}

// some joins the first texts of a list.
func some(list []string) string {
	const most = 5
	if n := len(list); n > most {
		list = append(list[:most:most], fmt.Sprintf("and from %d more", n-most))
	}
	return strings.Join(list, ", ")
}

// storeName names the experiment of a store by its directory, also for shards.
func storeName(path string) string {
	dir := filepath.Dir(path)
	if filepath.Base(filepath.Dir(dir)) == ShardDir {
		dir = filepath.Dir(filepath.Dir(dir))
	}
	return filepath.Base(dir)
}

// Find looks for results of the points in the directory of the experiment and, of those that run here, where search
// says. It reads graph files, whose content is part of a point's identity, but only if there are results of this
// program at all; a generated graph is known by its description. It writes nothing.
func (r *Runner) Find(dir string, search Search, model string) (*Known, error) {
	k := &Known{own: filepath.Join(dir, store.File), points: map[int]knownPoint{},
		wanted: make([]string, len(r.Points)), graphs: make([]graphDescription, len(r.Points))}
	f := finder{r: r, k: k, model: model, search: search, contents: map[string]graphDescription{}}
	sources := []*storedSource{f.read(k.own)}
	for _, path := range search.stores(dir) {
		sources = append(sources, f.read(path))
	}
	sources = slices.DeleteFunc(sources, func(s *storedSource) bool { return s == nil })
	if !slices.ContainsFunc(sources, func(s *storedSource) bool { return len(s.entries) > 0 }) {
		return k, nil
	}
	if err := f.want(0); err != nil {
		return nil, err
	}
	for _, s := range sources {
		f.take(s)
	}
	for _, s := range sources {
		f.reuse(s)
	}
	if search.Grows {
		f.others = slices.DeleteFunc(sources, func(s *storedSource) bool { return s.own })
		k.finder = &f
	}
	return k, nil
}

// grow looks for the results of points that have been added to the runner since, in other stores, and returns those of
// which there are.
func (k *Known) grow() (found []int, err error) {
	f := k.finder
	if f == nil {
		return nil, nil
	}
	from := len(k.wanted)
	k.wanted = append(k.wanted, make([]string, len(f.r.Points)-from)...)
	k.graphs = append(k.graphs, make([]graphDescription, len(f.r.Points)-from)...)
	if err := f.want(from); err != nil {
		return nil, err
	}
	for _, s := range f.others {
		f.take(s)
	}
	for _, s := range f.others {
		f.reuse(s)
	}
	for i := from; i < len(f.r.Points); i++ {
		if _, ok := k.points[i]; ok {
			found = append(found, i)
		}
	}
	return found, nil
}

// storedSource is a store whose results may be taken.
type storedSource struct {
	path    string
	own     bool
	entries []store.Entry

	accepted []acceptedPoint // by Search.Reuse
}

// finder is one Find.
type finder struct {
	r        *Runner
	k        *Known
	model    string
	search   Search
	others   []*storedSource             // for grow
	contents map[string]graphDescription // of generated graphs, by specOf
	at       map[string][]int            // points by identity

	last        *graphspec.Graph // that content described last; nil: none
	lastContent graphDescription
	inputs      map[string][]int // points by key and content of the graph
}

// open opens a store. Those of other experiments are not brought up to date: an older one has nothing that this program
// has simulated, and others may still read it.
func (f *finder) open(path string) (*store.Store, error) {
	if path == f.k.own || len(f.search.Reuse) > 0 {
		return store.OpenRead(path)
	}
	s, err := store.OpenCurrent(path)
	if errors.As(err, new(*store.OlderError)) {
		err = store.ErrEmpty
	}
	return s, err
}

// read reads a store's index and graphs; nil if there is none, or if it cannot be read.
func (f *finder) read(path string) *storedSource {
	s, err := f.open(path)
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, store.ErrEmpty) {
		return nil
	}
	if err != nil {
		f.k.Skipped = append(f.k.Skipped, err)
		return nil
	}
	defer s.Close() //nolint:errcheck // read only
	out := &storedSource{path: path, own: path == f.k.own}
	generated, err := s.Generated()
	if err == nil {
		out.entries, err = s.Index()
	}
	if err == nil {
		err = f.accept(s, out)
	}
	if err == nil && out.own {
		var e store.Experiment
		e, _, err = s.Experiment()
		f.k.Other = e.Version
	}
	if err != nil {
		f.k.Skipped = append(f.k.Skipped, err)
		return nil
	}
	for _, g := range generated {
		if g.Model == f.model {
			f.contents[g.Spec] = graphDescription{hash: g.Hash, numbering: g.Numbering}
		}
	}
	return out
}

// want computes the identities of the points with index from and above, which take and reuse then look for.
func (f *finder) want(from int) error {
	f.at, f.inputs = map[string][]int{}, map[string][]int{}
	for i := from; i < len(f.r.Points); i++ {
		p := &f.r.Points[i]
		d, err := f.content(&p.Config)
		if err != nil {
			return err
		}
		if d.hash == "" {
			continue
		}
		id := Identity(p.Key(), d.hash, d.numbering, f.model)
		f.k.wanted[i], f.k.graphs[i] = id, d
		f.at[id] = append(f.at[id], i)
		input := p.Key() + d.hash
		f.inputs[input] = append(f.inputs[input], i)
	}
	return nil
}

// content describes a point's graph; without a hash if it is generated and has never been. Most neighbours have the
// same.
func (f *finder) content(e *config.Experiment) (d graphDescription, err error) {
	if e.Workload.Trace != "" {
		t, err := f.r.graphs.trace(e.Workload.Trace)
		return *t, err
	}
	if f.last != nil && reflect.DeepEqual(*f.last, e.Graph) {
		return f.lastContent, nil
	}
	if e.Graph.File != "" {
		d, err = f.r.graphs.describe(e.Graph)
	} else if d = f.r.graphs.loaded(e); d.hash == "" {
		d = f.contents[specOf(e.Graph)]
	}
	if err == nil {
		f.last, f.lastContent = &e.Graph, d
	}
	return d, err
}

// take notes the points whose results a store has. A verified result elsewhere goes before a failure of the own store.
func (f *finder) take(s *storedSource) {
	if s.own {
		f.takeOwn(s)
		f.countOthers(s)
		return
	}
	for _, e := range s.entries {
		if !e.Verified || e.Failure != "" || e.Model != f.model {
			continue
		}
		for _, i := range f.at[e.Identity] {
			if p, known := f.k.points[i]; !f.r.Elsewhere[i] && (!known || p.entry.Failure != "") {
				f.k.points[i] = knownPoint{s.path, e, false}
			}
		}
	}
}

// takeOwn notes the points of the own store. A result stays where it is if it can, the others go to points without one,
// and equal points that still lack one get copies.
func (f *finder) takeOwn(s *storedSource) {
	used := map[int64]bool{}
	for _, fits := range []func(e *store.Entry, i int) bool{
		func(e *store.Entry, i int) bool { return e.Position == i },
		func(e *store.Entry, _ int) bool { return !used[e.ID] },
		func(*store.Entry, int) bool { return true },
	} {
		for _, e := range s.entries {
			for _, i := range f.at[e.Identity] {
				if _, known := f.k.points[i]; !known && fits(&e, i) {
					f.k.points[i] = knownPoint{s.path, e, e.Model != f.model}
					used[e.ID] = true
				}
			}
		}
	}
}

// countOthers counts the points of the own store that are in place, and those that have another model and were not
// accepted.
func (f *finder) countOthers(s *storedSource) {
	for _, e := range s.entries {
		if e.Position >= 0 {
			f.k.placed++
		}
		if e.Model != f.model && len(f.at[e.Identity]) == 0 {
			f.k.Others++
			if e.Model != "" {
				f.k.Other = e.Model
			}
		}
	}
}

// accept reads the points of programs whose results are accepted, and the contents of their generated graphs.
func (f *finder) accept(s *store.Store, into *storedSource) error {
	for _, prefix := range f.search.Reuse {
		if err := s.OfVersion(prefix, func(e store.Entry, p *store.Point) error {
			was, err := config.Parse("stored configuration of a point", []byte(p.Config))
			if err != nil {
				return nil //nolint:nilerr // a configuration that is none today is not a point's
			}
			a := acceptedPoint{e, KeyOf(was) + p.Graph, specOf(was.Graph), p.Numbering, p.Model != ""}
			into.accepted = append(into.accepted, a)
			if _, known := f.contents[a.spec]; !known && (a.numbered || !renumbers(&was.Graph)) {
				f.contents[a.spec] = graphDescription{hash: p.Graph, numbering: p.Numbering}
			}
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}

// renumbers reports whether a graph's vertices may have other numbers than it was read with.
func renumbers(g *graphspec.Graph) bool {
	return g.Clean.CompactIDs || g.Reorder.Order != graphspec.Schema.Default().Reorder.Order
}

// acceptedPoint is a point of another program.
type acceptedPoint struct {
	entry     store.Entry
	input     string // key and content of the graph
	spec      string // description of the graph
	numbering string
	numbered  bool // the numbering was recorded
}

// reuse notes the points that other programs have simulated whose results are accepted. Older stores do not record the
// numbering, which follows from the graph's description.
func (f *finder) reuse(s *storedSource) {
	for _, a := range s.accepted {
		if !s.own && (!a.entry.Verified || a.entry.Failure != "") {
			continue
		}
		for _, i := range f.inputs[a.input] {
			if _, known := f.k.points[i]; known || !s.own && f.r.Elsewhere[i] {
				continue
			}
			if a.numbered && a.numbering == f.k.graphs[i].numbering ||
				!a.numbered && a.spec == specOf(f.r.Points[i].Config.Graph) {
				f.k.points[i] = knownPoint{s.path, a.entry, true}
			}
		}
	}
}
