package compose

import (
	"errors"
	"fmt"
	"strings"

	"heddle/graph"
	"heddle/kernels/host"
	"heddle/kernels/workload"
)

// KeyError refuses the value of a workload's key.
type KeyError struct {
	Key, Msg string
	NoUse    bool // only the default is accepted, since nothing that the other keys choose reads this one

	Given string // of a group that is refused as a whole: a key of it that is not at its default
}

func (e *KeyError) Error() string { return e.Key + e.Msg }

// refuse returns the KeyError of a key of workload.
func refuse(key, format string, args ...any) error {
	return &KeyError{Key: "workload." + key, Msg: fmt.Sprintf(format, args...)}
}

// refuseUnused refuses the value of a key that only other choices read.
func refuseUnused(key, format string, args ...any) error {
	return &KeyError{Key: "workload." + key, Msg: fmt.Sprintf(format, args...), NoUse: true}
}

// Unused returns the key that an error refuses only because nothing reads it: at its default it would be accepted.
func Unused(err error) (key string, ok bool) {
	var k *KeyError
	if errors.As(err, &k) && k.NoUse {
		return k.Key, true
	}
	var r *Refused
	if errors.As(err, &r) && r.unused != "" {
		return "workload." + r.unused, true
	}
	return "", false
}

// Rehearse performs a run of the plan up to its first launch, and the preparation of all launches, so that it fails if
// the run would. The device must have the shape that the plan was compiled for.
func (c *Compiled) Rehearse(d *host.Rehearsal, g *graph.Graph, w workload.Workload) (Memory, error) {
	r, err := c.newRun(d, g, w)
	if err != nil {
		return Memory{}, err
	}
	for _, k := range c.Kernels.All() {
		if err := r.configure(k); err != nil {
			return Memory{}, err
		}
	}
	return r.memory(), nil
}

// Memory is the size of a run's arrays on the host, in bytes.
type Memory struct {
	Own     uint64 // arrays of the run itself
	Derived uint64 // arrays derived from the graph beside its CSR, which all runs on it share
}

func (r *run) memory() Memory { return memoryOf(r.image) }

func memoryOf(image *graph.Image) Memory {
	m := Memory{Own: image.Bytes()}
	for name, bytes := range image.SharedBytes() {
		m.Own -= bytes
		if order, part, _ := strings.Cut(name, "."); order != "csr" || part == "rows" {
			m.Derived += bytes
		}
	}
	return m
}
