// Package enum names the values of enumerations in configurations, JSON and messages. It imports none of heddle's
// packages.
package enum

import (
	"fmt"
	"slices"
	"strings"
)

// Names are the names of an enumeration, whose values count from 0.
type Names[T ~uint8] struct {
	what string // name of the enumeration, in messages
	list []string
}

// Of returns the names, in the order of the values.
func Of[T ~uint8](what string, names ...string) Names[T] { return Names[T]{what, names} }

// List returns the names.
func (n Names[T]) List() []string { return n.list }

// Name returns a value's name; for an invalid value, its number.
func (n Names[T]) Name(v T) string {
	if int(v) < len(n.list) {
		return n.list[v]
	}
	return fmt.Sprintf("(%d)", v)
}

// Check returns an error for an invalid value.
func (n Names[T]) Check(v T) error {
	if int(v) < len(n.list) {
		return nil
	}
	return fmt.Errorf("%s = %d: expected one of %s", n.what, uint8(v), strings.Join(n.list, ", "))
}

// Marshal implements the enumeration's MarshalText.
func (n Names[T]) Marshal(v T) ([]byte, error) { return []byte(n.Name(v)), nil }

// Unmarshal implements the enumeration's UnmarshalText.
func (n Names[T]) Unmarshal(text []byte, v *T) error {
	i := slices.Index(n.list, string(text))
	if i < 0 {
		return fmt.Errorf("%s = %q: expected one of %s", n.what, text, strings.Join(n.list, ", "))
	}
	*v = T(i)
	return nil
}
