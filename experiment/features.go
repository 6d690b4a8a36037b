package experiment

import (
	"context"
	"fmt"

	"heddle/configs/schema"
	"heddle/experiment/config"
	"heddle/graph"
	"heddle/kernels/compose"
	"heddle/kernels/featured"
	"heddle/kernels/host"
	"heddle/kernels/workload"
)

// checkFeatures refuses algorithms on features whose choices do not go together.
func checkFeatures(e *config.Experiment) error {
	d, err := host.NewRehearsal(&e.Machine)
	if err != nil {
		return err
	}
	return featured.Check(&e.Workload, d.Shape())
}

// featureKeys are the keys of workload.features. They are declared once: each point of a sweep is compared with them.
var featureKeys = schema.New[workload.Features]("")

// noFeatures refuses keys of features beside another workload.
func noFeatures(w *workload.Workload) error {
	for _, d := range featureKeys.Diff(featureKeys.Default(), w.Features) {
		return &compose.KeyError{Key: "workload.features." + d.Key, Msg: fmt.Sprintf(" = %s: %s has no features: expected the default, %s", d.B, w.Algorithm, d.A)}
	}
	return nil
}

// featured runs an algorithm on features, and books what is of the region.
func (r *result) featured(ctx context.Context, d host.Device, g *graph.Graph, w *workload.Workload) error {
	res, err := featured.Run(ctx, d, g, w)
	r.bookSession(featureKernel, res.Launched, res.Traversals)
	r.layout, r.verified = res.Layout, res.Verified
	return err
}

// featureKernel begins the names by which launches of an algorithm on features are booked: of traversals of edges
// features/NAME/gather-push, and of functions of vertices features/NAME.
const featureKernel = "features/"
