package schema_test

import (
	"fmt"

	"heddle/configs/schema"
)

type cache struct {
	Size int `key:"size" default:"16KiB" min:"1KiB" max:"64MiB" pow2:"true" unit:"bytes" doc:"Capacity. Source: VX_config.toml."`
	Ways int `key:"ways" default:"4" min:"1" max:"64" unit:"ways" doc:"Associativity. Source: VX_config.toml."`
}

type machine struct {
	Warps int    `key:"warps" default:"4" min:"1" max:"64" unit:"warps" doc:"Warps of a core. Source: VX_config.toml."`
	L1D   cache  `key:"l1d" doc:"Data cache of a core."`
	L2    *cache `key:"l2" defaults:"size=1MiB; ways=8" doc:"Shared cache."`
}

// Validate holds the rules across fields.
func (m machine) Validate() error {
	if m.L2 != nil && m.L2.Size < m.L1D.Size {
		return &schema.FieldError{Key: "l2.size", Msg: "expected at least l1d.size"}
	}
	return nil
}

var machines = schema.New[machine]("machines")

func Example() {
	text := []byte("warps: 8\nl2: {ways: 16}\n")
	l, err := machines.Load(schema.Input{File: "m.yaml", Data: text, Set: []string{"l1d.size=32K"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d warps, L2 of %d bytes\n", l.Value.Warps, l.Value.L2.Size)
	fmt.Print(string(l.AnnotatedYAML()))

	_, err = machines.Load(schema.Input{File: "m.yaml", Data: []byte("wraps: 8\nl1d: {size: 3K}\n")})
	fmt.Println(err)
	_, err = machines.Load(schema.Input{File: "m.yaml", Data: []byte("l2:\n  size: 8K\n")})
	fmt.Println(err)
	// Output:
	// 8 warps, L2 of 1048576 bytes
	// warps: 8 # m.yaml:1:8
	// l1d:
	//   size: 32KiB # --set l1d.size
	//   ways: 4 # default
	// l2:
	//   size: 1MiB # default
	//   ways: 16 # m.yaml:2:12
	// m.yaml:1:1: wraps: unknown key; did you mean warps?
	// m.yaml:2:13: l1d.size: expected a size such as 4096 or 64KiB, 1KiB..64MiB, power of two (bytes); found 3K
	// m.yaml:2:9: l2.size: expected at least l1d.size
}
