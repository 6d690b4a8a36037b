package monitor

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// module is the prefix of heddle's package paths. Structures of other packages are not opened: other goroutines may use
// their contents.
const module = "heddle/"

// rows is the number of elements listed at once.
const rows = 100

// value is the target of a path through a component's fields.
type value struct {
	Type   string  `json:"type"`
	Text   string  `json:"text"`
	Length int     `json:"length"` // for values with elements or fields
	From   int     `json:"from"`   // the first that is listed
	Fields []field `json:"fields"`
}

// field is a field of a structure, or an element.
type field struct {
	Name  string `json:"name"`
	Type  string `json:"type"`
	Text  string `json:"text"`
	Opens bool   `json:"opens"` // it has fields or elements itself
}

// look follows a path of names and numbers from a component.
func look(root any, path []string, from int) (value, error) {
	v := through(reflect.ValueOf(root))
	for i, name := range path {
		next, ok := child(v, name)
		if !ok {
			return value{}, fmt.Errorf("%s: %s has no such field or element", strings.Join(path[:i+1], "."),
				typeName(v))
		}
		v = through(next)
	}
	out := value{Type: typeName(v), Text: text(v, 1), Length: length(v), From: max(0, from)}
	for i := out.From; i < min(out.Length, out.From+rows); i++ {
		name, c := nth(v, i)
		c = through(c)
		out.Fields = append(out.Fields, field{name, typeName(c), text(c, 1), length(c) > 0})
	}
	return out, nil
}

// through follows pointers and interfaces.
func through(v reflect.Value) reflect.Value {
	for v.IsValid() && (v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface) && !v.IsNil() {
		v = v.Elem()
	}
	return v
}

func typeName(v reflect.Value) string {
	if !v.IsValid() {
		return "nil"
	}
	return v.Type().String()
}

// length returns the number of fields or elements that can be opened.
func length(v reflect.Value) int {
	switch v.Kind() {
	case reflect.Struct:
		if !strings.HasPrefix(v.Type().PkgPath(), module) && v.Type().PkgPath() != "" {
			return 0
		}
		return v.NumField()
	case reflect.Slice, reflect.Array, reflect.Map:
		return v.Len()
	}
	return 0
}

// nth returns the name and value of a field or element.
func nth(v reflect.Value, i int) (string, reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		return v.Type().Field(i).Name, v.Field(i)
	case reflect.Map:
		k := keys(v)[i]
		return text(k, 1), v.MapIndex(k)
	}
	return strconv.Itoa(i), v.Index(i)
}

// keys are a map's, by their text.
func keys(v reflect.Value) []reflect.Value {
	return slices.SortedFunc(slices.Values(v.MapKeys()),
		func(a, b reflect.Value) int { return cmp.Compare(text(a, 1), text(b, 1)) })
}

func child(v reflect.Value, name string) (reflect.Value, bool) {
	n := length(v)
	if k := v.Kind(); k == reflect.Slice || k == reflect.Array {
		i, err := strconv.Atoi(name)
		if err != nil || i < 0 || i >= n {
			return reflect.Value{}, false
		}
		return v.Index(i), true
	}
	for i := range n {
		if has, c := nth(v, i); has == name {
			return c, true
		}
	}
	return reflect.Value{}, false
}

const (
	longest = 200 // bytes of a string that are shown
	inline  = 8   // elements or fields that are shown in one line, where all are plain
	hexFrom = 1 << 12
)

// text formats a value in one line; depth limits the nesting of structures and slices.
func text(v reflect.Value, depth int) string {
	switch v.Kind() {
	case reflect.Invalid:
		return "nil"
	case reflect.Bool:
		return strconv.FormatBool(v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return named(v, strconv.FormatInt(v.Int(), 10))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return named(v, unsigned(v.Uint()))
	case reflect.Float32, reflect.Float64:
		return strconv.FormatFloat(v.Float(), 'g', -1, v.Type().Bits())
	case reflect.String:
		s := v.String()
		return strconv.Quote(s[:min(len(s), longest)])
	case reflect.Pointer, reflect.Interface:
		return pointer(v)
	case reflect.Func, reflect.Chan:
		if v.IsNil() {
			return "nil"
		}
		return v.Kind().String()
	}
	return composed(v, depth)
}

// pointer is the text of a pointer that could not be followed, or that has no room in a line.
func pointer(v reflect.Value) string {
	if v.IsNil() {
		return "nil"
	}
	return "→ " + typeName(through(v))
}

// unsigned formats a number, in hexadecimal too if it may be an address or a mask.
func unsigned(n uint64) string {
	if n < hexFrom {
		return strconv.FormatUint(n, 10)
	}
	return fmt.Sprintf("%d (0x%x)", n, n)
}

// named is the name of a constant whose type gives it one, else the number. The type's method is called on
// a copy, for fields that are not exported have no methods for others.
func named(v reflect.Value, number string) (name string) {
	if _, ok := reflect.Zero(v.Type()).Interface().(fmt.Stringer); !ok {
		return number
	}
	defer func() {
		if recover() != nil { // a number that is no constant of the type
			name = number
		}
	}()
	c := reflect.New(v.Type()).Elem()
	if v.CanInt() {
		c.SetInt(v.Int())
	} else {
		c.SetUint(v.Uint())
	}
	return c.Interface().(fmt.Stringer).String()
}

// composed formats a structure, slice, array or map: in full if it is small and plain, otherwise its length or type.
func composed(v reflect.Value, depth int) string {
	n := length(v)
	if depth == 0 || n > inline || n == 0 {
		return size(v, n)
	}
	parts := make([]string, n)
	for i := range n {
		name, c := nth(v, i)
		if k := c.Kind(); k == reflect.Slice || k == reflect.Array || k == reflect.Map || k == reflect.Struct {
			return size(v, n)
		}
		if parts[i] = text(c, 0); v.Kind() == reflect.Struct || v.Kind() == reflect.Map {
			parts[i] = name + " " + parts[i]
		}
	}
	if v.Kind() == reflect.Struct {
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return "[" + strings.Join(parts, " ") + "]"
}

func size(v reflect.Value, n int) string {
	switch {
	case v.Kind() == reflect.Struct && n == 0:
		return ""
	case v.Kind() == reflect.Struct:
		return fmt.Sprintf("%d fields", n)
	case n == 0:
		return "empty"
	}
	return fmt.Sprintf("%d elements", n)
}
