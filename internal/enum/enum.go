// Package enum gives enumerations their names: what configurations, JSON and messages call them. It imports nothing of
// ours.
package enum

import (
	"fmt"
	"slices"
	"strings"
)

// Names are the names of an enumeration, whose values count from 0.
type Names[T ~uint8] struct {
	what string // the enumeration, in messages
	list []string
}

// Of makes them, in the order of the values.
func Of[T ~uint8](what string, names ...string) Names[T] { return Names[T]{what, names} }

// List returns them.
func (n Names[T]) List() []string { return n.list }

// Name is a value's; of a value that there is not, its number.
func (n Names[T]) Name(v T) string {
	if int(v) < len(n.list) {
		return n.list[v]
	}
	return fmt.Sprintf("(%d)", v)
}

// Check refuses a value that there is not.
func (n Names[T]) Check(v T) error {
	if int(v) < len(n.list) {
		return nil
	}
	return fmt.Errorf("%s = %d: expected one of %s", n.what, uint8(v), strings.Join(n.list, ", "))
}

// Marshal is the enumeration's MarshalText.
func (n Names[T]) Marshal(v T) ([]byte, error) { return []byte(n.Name(v)), nil }

// Unmarshal is its UnmarshalText.
func (n Names[T]) Unmarshal(text []byte, v *T) error {
	i := slices.Index(n.list, string(text))
	if i < 0 {
		return fmt.Errorf("%s = %q: expected one of %s", n.what, text, strings.Join(n.list, ", "))
	}
	*v = T(i)
	return nil
}
