package schema

import (
	"fmt"
	"reflect"

	"github.com/spf13/viper"
)

// delimiter parts keys for viper; it occurs in none of ours, so that viper
// keeps every path as one flat key. Nested, it could not let go of a section
// that a later layer drops, and would look for "a.b" inside "a".
const delimiter = "::"

// entry is a value as viper holds it: whole, with its place, so that nothing
// is lost to viper's conversions.
type entry struct {
	value reflect.Value
	from  Origin
	seq   int // position among all assignments
}

// layers keep what all sources say. Which source wins is viper's business;
// sections that were dropped since are ours, because viper cannot delete.
type layers struct {
	viper   *viper.Viper
	seq     int
	cleared map[*Field]int // section → assignment that dropped it
}

func newLayers() *layers {
	return &layers{
		viper:   viper.NewWithOptions(viper.KeyDelimiter(delimiter)),
		cleared: map[*Field]int{},
	}
}

// merge adds a layer of files or of the environment, over those before it.
func (y *layers) merge(as []assignment) {
	if err := y.viper.MergeConfigMap(y.entries(as)); err != nil {
		panic(fmt.Sprintf("BUG: schema: viper refused a checked layer: %v", err))
	}
}

// override adds a layer over all files and the environment.
func (y *layers) override(as []assignment) {
	for key, e := range y.entries(as) { // order is immaterial: keys differ
		y.viper.Set(key, e)
	}
}

func (y *layers) entries(as []assignment) map[string]any {
	m := map[string]any{}
	for _, a := range as {
		y.seq++
		if a.op == opClear {
			y.cleared[a.field] = y.seq
			continue
		}
		m[viperKey(a.op, a.field)] = &entry{a.value, a.from, y.seq}
	}
	return m
}

// viperKey is the key of an assignment: what is said of a section needs keys
// apart from those of leaves.
func viperKey(o op, f *Field) string {
	switch o {
	case opPresent:
		return "section:" + f.Path
	case opTouch:
		return "touched:" + f.Path
	}
	return f.Path
}

// get finds the winning entry; nil when no layer says anything, or when the
// section was dropped after it. Everything weaker is then older, and dropped too.
func (y *layers) get(o op, f *Field) *entry {
	e, _ := y.viper.Get(viperKey(o, f)).(*entry)
	if e == nil {
		return nil
	}
	for s := f; s != nil; s = s.parent {
		if e.seq < y.cleared[s] {
			return nil
		}
	}
	return e
}

// section reports whether any layer mentions the section, and where: in a file
// rather than in passing.
func (y *layers) section(f *Field) *entry {
	if e := y.get(opPresent, f); e != nil {
		return e
	}
	return y.get(opTouch, f)
}
