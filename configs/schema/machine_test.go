package schema

import (
	"errors"
	"fmt"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

// A small configuration with one of everything.

type policy int

const (
	roundRobin policy = iota
	oldest
)

var policyNames = []string{"rr", "gto"}

func (p policy) MarshalText() ([]byte, error) { return []byte(policyNames[p]), nil }

func (p *policy) UnmarshalText(b []byte) error {
	for i, n := range policyNames {
		if n == string(b) {
			*p = policy(i)
			return nil
		}
	}
	return fmt.Errorf("no policy %q", b)
}

type cacheSpec struct {
	Size uint64 `key:"size" default:"16KiB" min:"1KiB" max:"64MiB" pow2:"true" unit:"bytes" doc:"Capacity."`
	Ways int    `key:"ways" default:"4" min:"1" max:"32" unit:"ways" doc:"Associativity."`

	Sets int `key:"-"` // derived
}

type weaverSpec struct {
	STEntries int `key:"st_entries" default:"512" min:"1" max:"65536" unit:"entries" doc:"Slots of the ST. Source: §V-A."`
}

type coreSpec struct {
	Warps   int         `key:"warps" default:"4" min:"1" max:"64" unit:"warps" doc:"Warps of a core."`
	Threads int         `key:"threads" default:"4" min:"4" max:"32" multiple:"4" unit:"lanes" doc:"Lanes of a warp."`
	Policy  policy      `key:"policy" default:"rr" oneof:"rr,gto" doc:"Which warp next | when several can."`
	Banked  bool        `key:"banked" default:"true" doc:"Operand banks."`
	L1      cacheSpec   `key:"l1d" doc:"Data cache."`
	L2      *cacheSpec  `key:"l2" defaults:"size=1MiB; ways=8" doc:"Second level."`
	Weaver  *weaverSpec `key:"weaver" doc:"Graph unit."`
}

func (c coreSpec) Validate() error {
	var errs []error
	if c.L1.Ways > c.Warps {
		errs = append(errs, &FieldError{"l1d.ways", fmt.Sprintf("expected at most warps = %d", c.Warps)})
	}
	if c.Threads > 16 && !c.Banked {
		errs = append(errs, errors.New("more than 16 threads need banked"))
	}
	return errors.Join(errs...)
}

type machineSpec struct {
	Cores int      `key:"cores" default:"1" min:"1" max:"1024" unit:"cores" doc:"Cores."`
	Ratio float64  `key:"clock_ratio" default:"1.5" min:"0.5" max:"8" unit:"core cycles per memory cycle" doc:"Clock."`
	Core  coreSpec `key:"core" doc:"Each core."`
}

type graphSpec struct {
	File string    `key:"file" default:"" doc:"Edge list."`
	RMAT *rmatSpec `key:"rmat" doc:"Generated."`
}

type rmatSpec struct {
	Scale int    `key:"scale" required:"true" min:"1" max:"30" unit:"log2 vertices" doc:"Size."`
	Seed  uint64 `key:"seed" default:"1" unit:"" doc:"Seed."`
}

func (g *graphSpec) Validate() error {
	if (g.File != "") == (g.RMAT != nil) {
		return errors.New("expected either file or rmat")
	}
	return nil
}

type experiment struct {
	Name     string      `key:"name" required:"true" doc:"Names the results."`
	Machine  machineSpec `key:"machine" presets:"machines" doc:"The GPU."`
	Graph    *graphSpec  `key:"graph" doc:"Input."`
	Metrics  []string    `key:"metrics" default:"cycles,ipc" oneof:"cycles,ipc,speedup,l1d.miss_rate" doc:"Columns."`
	Buffers  []int       `key:"buffers" default:"" min:"0" max:"1MiB" unit:"bytes" doc:"Split."`
	Schedule string      `key:"schedule" default:"vertex" oneof:"vortex,vertex,edge,weaver,two-level" doc:"Schedule."`
	Notes    []string    `key:"notes" default:"" doc:"Free text."`
	Sweep    Axes        `key:"sweep" doc:"Axes."`
	Compare  Variants    `key:"compare" within:"machine.core" doc:"Variants."`

	Exclude Exclusions `key:"exclude" doc:"Points to leave out."`
}

var experiments = New[experiment]("experiments")

var presets = FromFS(fstest.MapFS{
	"machines/small.yaml":   {Data: []byte("cores: 2\ncore: {warps: 8, weaver: {st_entries: 64}}\n")},
	"machines/large.yaml":   {Data: []byte("# six\nextends: small\ncores: 6\ncore:\n  warps: 32\n")},
	"machines/loop.yaml":    {Data: []byte("extends: loop_b\n")},
	"machines/loop_b.yaml":  {Data: []byte("cores: 2\nextends: loop\n")},
	"machines/broken.yaml":  {Data: []byte("cores: 0\n")},
	"machines/path.yaml":    {Data: []byte("extends: ./small.yaml\n")},
	"experiments/base.yaml": {Data: []byte("name: base\nmachine: small\nschedule: edge\nmetrics: [speedup]\n")},
})

func input(text string) Input {
	return Input{File: "e.yaml", Data: []byte(text), Presets: presets}
}

func load(t *testing.T, in Input) *Loaded[experiment] {
	t.Helper()
	l, err := experiments.Load(in)
	require.NoError(t, err)
	return l
}
