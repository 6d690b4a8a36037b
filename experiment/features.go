package experiment

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"heddle/configs/schema"
	"heddle/graph"
	"heddle/kernels/compose"
	"heddle/kernels/featured"
	"heddle/kernels/host"
	"heddle/kernels/workload"
)

// featureWork runs an algorithm on features.
type featureWork struct{ base }

func (f featureWork) label() string { return featured.Name(f.workload()) }

func (f featureWork) check() (string, error) {
	d, err := host.NewRehearsal(&f.e.Machine)
	if err != nil {
		return "", err
	}
	return "", featured.Check(f.workload(), d.Shape())
}

// limits: the host program is heddle's own, so it cannot be exported, and the search has no axes for its choices.
func (f featureWork) limits() (limits, error) {
	return limits{
		tune: errSearched,
		export: keyError("workload.algorithm",
			": %s: its host program is heddle's: expected an algorithm without features",
			f.workload().Algorithm),
	}, nil
}

func (f featureWork) superSteps() uint64 {
	const usual = 10
	return uint64(cmp.Or(f.workload().Iterations, usual))
}

func (f featureWork) rehearse(_ context.Context, _ *vetting, d *host.Rehearsal, g *graph.Graph) (compose.Memory,
	error) {
	return featured.Rehearse(d, g, f.workload())
}

func (f featureWork) run(ctx context.Context, d *counted, g *graph.Graph) (workResult, error) {
	res, err := featured.Run(ctx, d, g, f.workload())
	return workResult{
		launched: res.Launched, prefix: featureKernel, steps: res.Traversals, seen: traversalStatistics,
		layout:   res.Layout,
		verified: res.Verified,
	}, err
}

// featureKeys is the schema of workload.features, built once because every point of a sweep is compared with it.
var featureKeys = schema.New[workload.Features]("")

// noFeatures returns an error for keys of workload.features beside another kind of workload.
func noFeatures(w *workload.Workload) error {
	var given []string
	for _, d := range featureKeys.Diff(featureKeys.Default(), w.Features) {
		given = append(given, d.Key)
	}
	return groupRefused("workload.features", given, string(w.Algorithm)+" has no features")
}

// groupRefused returns an error for a group of keys that nothing reads, of which some are given; nil if none is.
func groupRefused(group string, given []string, why string) error {
	if len(given) == 0 {
		return nil
	}
	return &compose.KeyError{Key: group, NoUse: true, Given: group + "." + given[0],
		Msg: fmt.Sprintf(": %s: expected none of its keys, found %s", why,
			strings.Join(given, ", "))}
}

// featureKernel is the prefix under which launches of an algorithm on features are recorded: features/NAME/gather-push
// for edge traversals, features/NAME for vertex functions.
const featureKernel = "features/"
