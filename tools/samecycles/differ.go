package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// ignored are the parts of a result that describe when, where and from which input it was computed, rather than its
// outcome.
var ignored = []string{"host", "host_seconds", "layout_seconds", "version", "config", "experiment", "statistics",
	"identity"}

// difference is a value that differs between two results.
type difference struct{ key, base, now string }

// differences returns the differences between two results: the JSON of heddle exec or run, or the message in its place.
func differences(base, now []byte) ([]difference, error) {
	a, err := flatten(base)
	if err != nil {
		return nil, err
	}
	b, err := flatten(now)
	if err != nil {
		return nil, err
	}
	keys := maps.Clone(a)
	maps.Copy(keys, b)
	var list []difference
	for _, k := range slices.Sorted(maps.Keys(keys)) {
		if a[k] != b[k] {
			list = append(list, difference{k, orAbsent(a, k), orAbsent(b, k)})
		}
	}
	slices.SortStableFunc(list, func(x, y difference) int { return rank(x.key) - rank(y.key) })
	return list, nil
}

// rank orders the primary results, cycles, before the statistics that follow from them.
func rank(key string) int {
	for i, name := range []string{"refused", "failure", "cycles", "warp_instrs"} {
		if key == name {
			return i
		}
	}
	return 100
}

func orAbsent(m map[string]string, key string) string {
	if v, ok := m[key]; ok {
		return v
	}
	return "absent"
}

// flatten returns a result's values as a flat map; for an experiment with a single point, the point's.
func flatten(result []byte) (map[string]string, error) {
	flat := map[string]string{}
	if text, refused := bytes.CutPrefix(result, []byte(refusedPrefix)); refused {
		flat["refused"] = string(text)
		return flat, nil
	}
	d := json.NewDecoder(bytes.NewReader(result))
	d.UseNumber() // compare digits, not their rounding
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, fmt.Errorf("the result: %w", err)
	}
	add(flat, nil, v)
	return flat, nil
}

func add(flat map[string]string, path []string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			if !slices.Contains(ignored, k) {
				add(flat, append(slices.Clip(path), k), e)
			}
		}
	case []any:
		for i, e := range v {
			add(flat, append(slices.Clip(path), fmt.Sprint(i)), e)
		}
	default:
		key := strings.Join(path, ".")
		key = strings.TrimPrefix(key, "points.0.")
		flat[strings.TrimPrefix(key, "stats.")] = fmt.Sprint(v)
	}
}

// ending returns how a run ended: equality proves little if both programs refused it.
func ending(result []byte) string {
	flat, err := flatten(result)
	switch {
	case err != nil:
		return err.Error()
	case flat["refused"] != "":
		return "refused"
	case flat["failure"] != "":
		return flat["failure"]
	case flat["partial"] != "":
		return "done in part"
	}
	return "done"
}
