package config

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"heddle/configs/schema"
	"heddle/internal/tolerance"
	"heddle/kernels/workload"
)

// Keys of conditions beside those of an experiment's schema.
const (
	ExperimentKey = "experiment" // name of the experiment
	SeedKey       = "seed"
)

// Condition is met by points whose key has one of the values.
type Condition struct {
	Key    string
	Values []string
}

// maxConditions bounds a list of conditions.
const maxConditions = 32

// Keys returns the keys of conditions.
func Keys(conditions []Condition) (keys []string) {
	for _, c := range conditions {
		keys = append(keys, c.Key)
	}
	return keys
}

// ParseConditions parses conditions of the form KEY=VALUE|VALUE.
func ParseConditions(texts []string) (list []Condition, err error) {
	if len(texts) > maxConditions {
		return nil, fmt.Errorf("%d conditions: expected at most %d", len(texts), maxConditions)
	}
	for _, t := range texts {
		key, values, ok := strings.Cut(t, "=")
		if !ok || values == "" {
			return nil, fmt.Errorf("%q: expected KEY=VALUE, or KEY=VALUE|VALUE", t)
		}
		if err := checkKey(key); err != nil {
			return nil, err
		}
		key = Schema.Path(key)
		list = append(list, Condition{key, strings.Split(values, "|")})
	}
	return list, nil
}

// namesPoint reports whether a key distinguishes points without being in the experiment's schema.
func namesPoint(key string) bool {
	return key == ExperimentKey || key == SeedKey || key == schema.VariantKey
}

// checkKey returns an error for a key that cannot distinguish points.
func checkKey(key string) error {
	if namesPoint(key) {
		return nil
	}
	if _, ok := Schema.Lookup(key); !ok {
		return fmt.Errorf("%q is no key of an experiment (heddle config schema lists them), nor %s, %s or %s", key,
			ExperimentKey, schema.VariantKey, SeedKey)
	}
	return nil
}

// Rule decides by a number whether a statement holds.
type Rule struct {
	op   string
	a, b float64
}

// ParseRule parses '>= X', '<= X', 'between X Y' or 'within X'.
func ParseRule(text string) (r Rule, err error) {
	words := strings.Fields(text)
	want := map[string]int{">=": 1, "<=": 1, "within": 1, "between": 2}
	if len(words) == 0 || want[words[0]] != len(words)-1 {
		return r, fmt.Errorf("%q: expected '>= X', '<= X', 'between X Y' or 'within X'", text)
	}
	r.op = words[0]
	for i, to := range []*float64{&r.a, &r.b}[:len(words)-1] {
		*to, err = strconv.ParseFloat(words[1+i], 64)
		if err != nil || math.IsNaN(*to) || math.IsInf(*to, 0) {
			return r, fmt.Errorf("%q: %s is no number", text, words[1+i])
		}
	}
	switch {
	case r.op == "between" && r.a > r.b:
		return r, fmt.Errorf("%q: %g is above %g", text, r.a, r.b)
	case r.op == "within" && r.a < 0:
		return r, fmt.Errorf("%q: expected a share that is not negative", text)
	}
	return r, nil
}

// Relative reports whether the rule compares with a published value.
func (r Rule) Relative() bool { return r.op == "within" }

// Range is the interval of numbers that satisfy the rule; all numbers if it compares with a published value.
func (r Rule) Range() (low, high float64) {
	low, high = math.Inf(-1), math.Inf(1)
	switch r.op {
	case ">=":
		low = r.a
	case "<=":
		high = r.a
	case "between":
		low, high = r.a, r.b
	}
	return low, high
}

// Met reports whether x satisfies the rule, given the published value.
func (r Rule) Met(x, published float64) bool {
	switch r.op {
	case ">=":
		return x >= r.a
	case "<=":
		return x <= r.a
	case "between":
		return r.a <= x && x <= r.b
	case "within":
		return tolerance.Within(x, published, r.a*math.Abs(published))
	}
	return false
}

// canonical gives the keys of a quantity their present names.
func (q *Quantity) canonical() {
	for _, keys := range [][]string{q.Sum, q.Across} {
		present(keys)
	}
}

// present replaces former names of keys.
func present(keys []string) {
	for i := range keys {
		keys[i] = Schema.Path(keys[i])
	}
}

// validate returns an error for inconsistent keys.
func (q *Quantity) validate() error {
	for _, c := range []struct {
		key  string
		list []string
	}{{"of", q.Of}, {"over", q.Over}} {
		if _, err := ParseConditions(c.list); err != nil {
			return &schema.FieldError{Key: c.key, Msg: err.Error()}
		}
	}
	for _, l := range []struct {
		key  string
		keys []string
	}{{"sum", q.Sum}, {"across", q.Across}} {
		for _, k := range l.keys {
			if err := checkKey(k); err != nil {
				return &schema.FieldError{Key: l.key, Msg: err.Error()}
			}
		}
	}
	switch pairs := q.Measure != "value"; {
	case pairs && len(q.Over) == 0:
		return &schema.FieldError{Key: "over", Msg: fmt.Sprintf("missing: measure %s needs partners", q.Measure)}
	case !pairs && len(q.Over) > 0:
		return &schema.FieldError{Key: "over",
			Msg: "means nothing with measure value; expected measure ratio or speedup"}
	case q.Metric == "":
		return &schema.FieldError{Key: "metric", Msg: "expected the name of a statistic"}
	}
	return nil
}

// alongs lists the reductions of series, which need the key along.
var alongs = []workload.Choice{"r2", "tau", "spread", "first", "last"}

// ofOptions lists the reductions over options, which need the key among.
var ofOptions = []workload.Choice{"slowest", "second", "most-second", "second-differs", "restricted"}

// options returns an error for inconsistent keys of options.
func (c *Check) options() error {
	switch of := slices.Contains(ofOptions, c.Reduce); {
	case of && len(c.Among) == 0:
		return &schema.FieldError{Key: "among",
			Msg: fmt.Sprintf("missing: reduce %s needs the keys of options", c.Reduce)}
	case !of && len(c.Among) > 0:
		return &schema.FieldError{Key: "among", Msg: fmt.Sprintf("means nothing with reduce %s", c.Reduce)}
	case c.Reduce == "second-differs" && !slices.Contains(c.Among, c.Differs):
		return &schema.FieldError{Key: "differs", Msg: "expected one of the keys of among"}
	case c.Reduce != "second-differs" && c.Differs != "":
		return &schema.FieldError{Key: "differs", Msg: fmt.Sprintf("means nothing with reduce %s", c.Reduce)}
	case c.Reduce != "second-differs" && len(c.Alike) > 0:
		return &schema.FieldError{Key: "alike", Msg: fmt.Sprintf("means nothing with reduce %s", c.Reduce)}
	}
	for _, k := range c.Tuned {
		if !slices.Contains(c.Among, k) {
			return &schema.FieldError{Key: "tuned", Msg: fmt.Sprintf("%s: expected keys of among", k)}
		}
	}
	if (c.Reduce == "restricted") != (len(c.Within) > 0) {
		return &schema.FieldError{Key: "within", Msg: "expected conditions with reduce restricted, and none else"}
	}
	if _, err := ParseConditions(c.Within); err != nil {
		return &schema.FieldError{Key: "within", Msg: err.Error()}
	}
	for _, k := range c.Among {
		if err := checkKey(k); err != nil {
			return &schema.FieldError{Key: "among", Msg: err.Error()}
		}
	}
	return nil
}

// Validate returns an error for an inconsistent check.
func (c Check) Validate() error {
	if err := c.Quantity.validate(); err != nil {
		return err
	}
	if err := c.options(); err != nil {
		return err
	}
	switch series := slices.Contains(alongs, c.Reduce); {
	case series && c.Along == "":
		return &schema.FieldError{Key: "along", Msg: fmt.Sprintf("missing: reduce %s needs an axis", c.Reduce)}
	case !series && c.Along != "":
		return &schema.FieldError{Key: "along", Msg: fmt.Sprintf("means nothing with reduce %s", c.Reduce)}
	case c.Along != "" && checkKey(c.Along) != nil:
		return &schema.FieldError{Key: "along", Msg: checkKey(c.Along).Error()}
	case len(c.Variants) == 0:
		return &schema.FieldError{Key: "variants", Msg: "expected quick, full, or both"}
	}
	if err := c.rule(c.Holds); err != nil {
		return &schema.FieldError{Key: "holds", Msg: err.Error()}
	}
	if err := c.rule(c.Partly); c.Partly != "" && err != nil {
		return &schema.FieldError{Key: "partly", Msg: err.Error()}
	}
	if err := c.rule(c.Direction); c.Direction != "" && err != nil {
		return &schema.FieldError{Key: "direction", Msg: err.Error()}
	}
	return nil
}

func (c *Check) rule(text string) error {
	r, err := ParseRule(text)
	if err == nil && r.Relative() && c.Published == "" {
		err = fmt.Errorf("%q: there is no published value to be near: give published", text)
	}
	return err
}

// Validate returns an error for an inconsistent figure.
func (f PackFigure) Validate() error {
	if err := f.Quantity.validate(); err != nil {
		return err
	}
	if strings.Trim(f.Name, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" || f.Name == "" {
		return &schema.FieldError{Key: "name", Msg: fmt.Sprintf("%q: expected small letters, digits, - and _", f.Name)}
	}
	for _, keys := range []struct {
		key  string
		list []string
	}{{"columns", f.Columns}, {"series", f.Series}} {
		for _, k := range keys.list {
			if err := checkKey(k); err != nil {
				return &schema.FieldError{Key: keys.key, Msg: err.Error()}
			}
		}
	}
	switch {
	case len(f.Columns) == 0:
		return &schema.FieldError{Key: "columns", Msg: "expected keys that distinguish columns"}
	case f.Kind == "lines" && len(f.Columns) != 1:
		return &schema.FieldError{Key: "columns", Msg: "lines: expected one key, whose values are numbers"}
	case f.Geomean && f.Kind != "bars":
		return &schema.FieldError{Key: "geomean", Msg: "is for bars"}
	case len(f.Variants) == 0:
		return &schema.FieldError{Key: "variants", Msg: "expected quick, full, or both"}
	}
	return nil
}
