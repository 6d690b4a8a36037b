package experiment_test

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/components/accel"
	"heddle/configs"
	"heddle/experiment"
	"heddle/experiment/config"
)

// notInKey lists the keys that a point's key does not have, each with the reason.
var notInKey = map[string]string{
	"name":    "names the results",
	"compare": "a point is one of its variants, whose settings it has",
	"sweep":   "a point has the values of its axes",
	"exclude": "a point that is left out is none",
	"seeds":   "a point's seed is in its graph",
	"report":  "presents results",
	"run":     "no result depends on how the host runs a point",
	"graph":   "its content and numbering are in the identity beside the key",
}

// whenOff lists keys that have no effect while the feature is off which the value stands for, and are in the key when
// it is on.
var whenOff = map[string]string{
	"stats.keys": "stats.interval", "stats.max_rows": "stats.interval",
	"sample.interval": "sample.period", "sample.warm_up": "sample.period", "sample.begin": "sample.period",
}

// fields visits the values of a configuration's keys, with their paths.
func fields(v reflect.Value, path string, visit func(path string, v reflect.Value)) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			name := f.Tag.Get("key")
			if name == "-" { // assembled, not configured
				continue
			}
			if name == "" && !f.Anonymous && f.Type != reflect.TypeFor[configs.GraphUnit]() &&
				f.Type != reflect.TypeFor[accel.Spec]() {
				panic("a field without a key: " + path + "." + f.Name)
			}
			fields(v.Field(i), strings.Trim(path+"."+name, "."), visit)
		}
	case reflect.Interface:
		if v.IsNil() {
			return
		}
		inner := reflect.New(v.Elem().Type()).Elem() // a value in an interface cannot be set
		inner.Set(v.Elem())
		fields(inner, path, func(p string, x reflect.Value) { visit(p, x); v.Set(inner) })
	case reflect.Pointer:
		if v.IsNil() {
			visit(path, v)
			return
		}
		fields(v.Elem(), path, visit)
	default:
		visit(path, v)
	}
}

// change gives a value another.
func change(v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(v.Int() + 1)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(v.Uint() + 1)
	case reflect.Float32, reflect.Float64:
		v.SetFloat(v.Float() + 1)
	case reflect.String:
		v.SetString(v.String() + "x")
	case reflect.Slice:
		v.Set(reflect.Append(v, reflect.Zero(v.Type().Elem())))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
	default:
		panic("a key of kind " + v.Kind().String())
	}
}

// TestEveryKeyCounts changes each key of an experiment, with each unit in the cores: the point is another one, unless
// the key is listed above.
func TestEveryKeyCounts(t *testing.T) {
	units := []accel.Spec{nil}
	for _, u := range accel.Registered() {
		units = append(units, configs.DefaultUnit(u))
	}
	seen := map[string]bool{}
	for _, unit := range units {
		base := config.Schema.Default()
		base.Machine.Core.Unit.Spec = unit
		base.Stats.Interval, base.Sample.Period = 1000, 1000
		off := base
		off.Stats.Interval, off.Sample.Period = 0, 0
		key, keyOff := experiment.KeyOf(base), experiment.KeyOf(off)
		require.NotEqual(t, key, keyOff)
		changed := 0
		fields(reflect.ValueOf(&base).Elem(), "", func(path string, v reflect.Value) {
			section, _, _ := strings.Cut(path, ".")
			was := reflect.New(v.Type()).Elem()
			was.Set(v)
			change(v)
			changed++
			seen[section], seen[path] = true, true
			defer v.Set(was)
			if notInKey[section] != "" {
				return
			}
			requireOther(t, path, unit, key, &base)
		})
		require.Greater(t, changed, 100)
		require.Equal(t, key, experiment.KeyOf(base), "all is as it was")
		fields(reflect.ValueOf(&off).Elem(), "", func(path string, v reflect.Value) {
			section, _, _ := strings.Cut(path, ".")
			if whenOff[path] == "" && notInKey[section] == "" {
				return
			}
			was := reflect.New(v.Type()).Elem()
			was.Set(v)
			change(v)
			require.Equal(t, keyOff, experiment.KeyOf(off), path)
			v.Set(was)
		})
	}
	for _, list := range []map[string]string{notInKey, whenOff} {
		for path := range list {
			require.True(t, seen[path], "%s is no key", path)
		}
	}
}

func requireOther(t *testing.T, path string, unit accel.Spec, key string, e *config.Experiment) {
	t.Helper()
	require.NotEqual(t, key, experiment.KeyOf(*e), "%s with unit %T", path, unit)
}

// Files are known by their contents, wherever they are; the kind of a program counts.
func TestPlacesOfFilesDoNotCount(t *testing.T) {
	of := func(set func(e *config.Experiment)) string {
		e := config.Schema.Default()
		set(&e)
		return experiment.KeyOf(e)
	}
	program := func(path, sum string) string {
		return of(func(e *config.Experiment) { e.Workload.Program, e.Workload.Host.SHA256 = path, sum })
	}
	keys := []string{
		program("a/b.gt", "1"), program("c.gt", "2"), program("c.elf", "1"), program("c.gt", ""),
		of(func(e *config.Experiment) { e.Workload.Trace = "a.trace" }), of(func(*config.Experiment) {}),
	}
	require.Len(t, slices.Compact(slices.Sorted(slices.Values(keys))), len(keys))
	require.Equal(t, program("a/b.gt", "1"), program("c.gt", "1"))
	require.Equal(t, keys[4], of(func(e *config.Experiment) { e.Workload.Trace = "elsewhere/b" }))
}

// TestCheckFileCounts: a result that was verified by other numbers is another point's.
func TestCheckFileCounts(t *testing.T) {
	e := config.Schema.Default()
	e.Workload.Host.CheckFile = filepath.Join(t.TempDir(), "want.txt")
	seen := map[string]bool{experiment.KeyOf(e): true}
	for _, text := range []string{"1\n", "2\n", "2\n3\n"} {
		require.NoError(t, os.WriteFile(e.Workload.Host.CheckFile, []byte(text), 0o600))
		key := experiment.KeyOf(e)
		require.Equal(t, key, experiment.KeyOf(e))
		require.False(t, seen[key], text)
		seen[key] = true
	}
}
