package verilated

import (
	"encoding/binary"
	"runtime"
)

// link exchanges records of words with a unit's process, which begins with the first.
type link struct {
	name    string
	program string
	process *process
	in, out []byte
}

// newLink returns the link to a program whose answers have at most that many words.
func newLink(name, program string, words int) link {
	return link{name: name, program: program, out: make([]byte, 4*words)}
}

// put appends to the record.
func (c *link) put(words ...uint32) {
	for _, w := range words {
		c.in = binary.NativeEndian.AppendUint32(c.in, w)
	}
}

// send sends the record.
func (c *link) send() (err error) {
	if c.process == nil {
		if c.process, err = start(c.program, c.name); err != nil {
			return err
		}
		runtime.AddCleanup(c, (*process).end, c.process)
	}
	return c.process.write(c.in)
}

// receive reads an answer; length returns its number of words once the first is there.
func (c *link) receive(length func() int) error {
	for have, need := 0, 4; have < need; {
		n, err := c.process.read(c.out[have:])
		if err != nil {
			return err
		}
		if have += n; have >= 4 {
			need = 4 * length()
		}
	}
	return nil
}

// word returns a word of the answer.
func (c *link) word(i int) uint32 { return binary.NativeEndian.Uint32(c.out[4*i:]) }

// Close ends the process.
func (c *link) Close() error {
	if c.process != nil {
		c.process.end()
		c.process = nil
	}
	return nil
}
