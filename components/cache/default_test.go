package cache

import "heddle/configs/schema"

// DefaultSpec returns the default configuration of a cache with one requester.
func DefaultSpec() Spec {
	l, err := schema.New[Spec]("").Load(schema.Input{})
	if err != nil {
		panic(err)
	}
	l.Value.Ports = 1
	return l.Value
}
