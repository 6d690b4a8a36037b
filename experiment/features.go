package experiment

import (
	"cmp"
	"context"
	"fmt"

	"heddle/configs/schema"
	"heddle/graph"
	"heddle/kernels/compose"
	"heddle/kernels/featured"
	"heddle/kernels/host"
	"heddle/kernels/workload"
)

// featuring is an algorithm on features.
type featuring struct{ base }

func (f featuring) label() string { return featured.Name(f.workload()) }

func (f featuring) check() (string, error) {
	d, err := host.NewRehearsal(&f.e.Machine)
	if err != nil {
		return "", err
	}
	return "", featured.Check(f.workload(), d.Shape())
}

// limits: its host program is heddle's, and its choices are not those that are searched.
func (f featuring) limits() (limits, error) {
	return limits{
		tune: errSearched,
		export: keyError("workload.algorithm",
			": %s: its host program is heddle's: expected an algorithm without features",
			f.workload().Algorithm),
	}, nil
}

func (f featuring) superSteps() uint64 {
	const usual = 10
	return uint64(cmp.Or(f.workload().Iterations, usual))
}

func (f featuring) rehearse(_ context.Context, _ *vetting, d *host.Rehearsal, g *graph.Graph) (compose.Memory, error) {
	return featured.Rehearse(d, g, f.workload())
}

func (f featuring) run(ctx context.Context, d *counted, g *graph.Graph) (ran, error) {
	res, err := featured.Run(ctx, d, g, f.workload())
	return ran{
		launched: res.Launched, prefix: featureKernel, steps: res.Traversals, seen: software, layout: res.Layout,
		verified: res.Verified,
	}, err
}

// featureKeys are the keys of workload.features. They are declared once: each point of a sweep is compared with them.
var featureKeys = schema.New[workload.Features]("")

// noFeatures refuses keys of features beside another workload.
func noFeatures(w *workload.Workload) error {
	for _, d := range featureKeys.Diff(featureKeys.Default(), w.Features) {
		return &compose.KeyError{Key: "workload.features." + d.Key, NoUse: true,
			Msg: fmt.Sprintf(" = %s: %s has no features: expected the default, %s", d.B, w.Algorithm, d.A)}
	}
	return nil
}

// featureKernel begins the names by which launches of an algorithm on features are booked: of traversals of edges
// features/NAME/gather-push, and of functions of vertices features/NAME.
const featureKernel = "features/"
