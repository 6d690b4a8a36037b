package lower

import (
	"context"

	"heddle/kernels/compose"
	"heddle/kernels/host"
)

// journal is a program's session. If the device writes checkpoints, it records what the host program learns from the
// session: frontiers, words and times, which with the program's input determine everything that the host does. The
// state of the host program, which is interpreted, is therefore not saved: where a run resumes, the host runs main
// again with the recorded answers, launches nothing, and comes to the operator before which the checkpoint was written.
//
// A program with a fused loop has no checkpoints, since a loop is one launch: the device is told so (fuses).
type journal struct {
	*compose.Session
	device host.Device `checkpoint:"assembled"`
	keeps  bool        `checkpoint:"assembled"` // the device writes checkpoints

	fuses string `checkpoint:"assembled"` // a loop that is one launch; "": none

	frontiers answers[*compose.Frontier] // of operators; nil: one without
	words     answers[uint32]
	seconds   answers[float64]
}

// answers are those of one kind, in order.
type answers[T any] struct {
	list  []T
	given int `checkpoint:"assembled"` // answers that the host has had from the list again
}

// again returns the next recorded answer; false: it is not recorded yet.
func (a *answers[T]) again() (answer T, ok bool) {
	if a.given == len(a.list) {
		return answer, false
	}
	a.given++
	return a.list[a.given-1], true
}

// record appends an answer that the host has had.
func (a *answers[T]) record(answer T) {
	a.list = append(a.list, answer)
	a.given++
}

// newJournal returns the journal of a session that has launched nothing.
func newJournal(s *compose.Session, d host.Device, fuses string) *journal {
	return &journal{Session: s, device: d, keeps: host.Keeps(d) && fuses == "", fuses: fuses}
}

// resume restores the state of a checkpoint, before the first launch.
func (j *journal) resume() error {
	if !j.keeps {
		return nil
	}
	_, err := host.Resume(j.device, j)
	return err
}

// resuming reports whether the host has not come yet to where the run resumes.
func (j *journal) resuming() bool {
	return j.frontiers.given < len(j.frontiers.list) || j.words.given < len(j.words.list) ||
		j.seconds.given < len(j.seconds.list)
}

// Edges runs an operator over edges, before which the device may write a checkpoint.
func (j *journal) Edges(ctx context.Context, o *compose.EdgeOperator, in *compose.Frontier) (*compose.Frontier, error) {
	if out, ok := j.frontiers.again(); ok {
		return out, nil
	}
	switch {
	case j.keeps:
		host.Keep(j.device, j.Steps+1)
	case j.fuses != "":
		host.Unkept(j.device, "the loop "+j.fuses+" is one launch by configKernelFusion, and checkpoints are between "+
			"launches: a run that is killed begins anew; expected a schedule without it for a run that may go on")
	}
	out, err := j.Session.Edges(ctx, o, in)
	return j.came(out, err)
}

// Vertices runs an operator over vertices.
func (j *journal) Vertices(ctx context.Context, o *compose.VertexOperator,
	in *compose.Frontier) (*compose.Frontier, error) {
	if out, ok := j.frontiers.again(); ok {
		return out, nil
	}
	out, err := j.Session.Vertices(ctx, o, in)
	return j.came(out, err)
}

// came records the frontier that an operator has made.
func (j *journal) came(out *compose.Frontier, err error) (*compose.Frontier, error) {
	if err == nil && j.keeps {
		j.frontiers.record(out)
	}
	return out, err
}

// Read returns a word of an array.
func (j *journal) Read(array string, n int) uint32 {
	if word, ok := j.words.again(); ok {
		return word
	}
	word := j.Session.Read(array, n)
	if j.keeps {
		j.words.record(word)
	}
	return word
}

// Write writes a word of an array, which the memory of a checkpoint has already.
func (j *journal) Write(array string, n int, word uint32) {
	if !j.resuming() {
		j.Session.Write(array, n, word)
	}
}

// Seconds returns the time of the launches so far, at a clock rate.
func (j *journal) Seconds(rate float64) float64 {
	if t, ok := j.seconds.again(); ok {
		return t
	}
	t := float64(j.Times.Total()) / rate
	if j.keeps {
		j.seconds.record(t)
	}
	return t
}
