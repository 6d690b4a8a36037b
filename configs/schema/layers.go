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

// layers holds the settings of all sources. viper decides which source wins; discarded sections are tracked here,
// because viper cannot delete.
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

// viperKey returns the key of an assignment: settings of a section itself need keys distinct from those of leaves.
func viperKey(o op, f *Field) string {
	switch o {
	case opPresent:
		return "section:" + f.Path
	case opTouch:
		return "touched:" + f.Path
	}
	return f.Path
}

// get returns the winning entry; nil if no layer sets it, or if the section was discarded after it. All weaker entries
// are then older, and discarded too.
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

// section reports whether any layer mentions the section, and where: preferably in a file.
func (y *layers) section(f *Field) *entry {
	if e := y.get(opPresent, f); e != nil {
		return e
	}
	return y.get(opTouch, f)
}
