package cache

import "heddle/configs/schema"

// DefaultSpec is a cache of one requester with what a configuration gives that says nothing.
func DefaultSpec() Spec {
	l, err := schema.New[Spec]("").Load(schema.Input{})
	if err != nil {
		panic(err)
	}
	l.Value.Ports = 1
	return l.Value
}
