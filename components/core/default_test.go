package core

import (
	"fmt"

	"heddle/configs/schema"
)

// DefaultSpec is the spec of a configuration that sets the shape only.
func DefaultSpec(warps, threads int) Spec {
	l, err := schema.New[Spec]("").Load(schema.Input{Set: []string{fmt.Sprintf("warps=%d", warps),
		fmt.Sprintf("threads=%d", threads)}})
	if err != nil {
		panic(err)
	}
	return l.Value
}

// InStages has instructions moved from stage to stage, whether or not something holds them up.
func (c *Core) InStages() {
	for i := range c.slices {
		c.slices[i].bypass.open, c.slices[i].bypass.alu = false, false
	}
	x := &c.lsu.bypass
	x.loads, x.partial, x.stores = false, false, false
}
