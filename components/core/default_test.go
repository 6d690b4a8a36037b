package core

import (
	"fmt"

	"heddle/internal/schema"
)

// DefaultSpec is what a configuration gives that says the shape only.
func DefaultSpec(warps, threads int) Spec {
	l, err := schema.New[Spec]("").Load(schema.Input{Set: []string{fmt.Sprintf("warps=%d", warps), fmt.Sprintf("threads=%d", threads)}})
	if err != nil {
		panic(err)
	}
	return l.Value
}
