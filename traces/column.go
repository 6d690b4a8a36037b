package traces

import "encoding/binary"

// Columns of a warp's trace in one launch. Each is a separate sequence, so that similar values are compressed together,
// and late values do not delay the rest.
const (
	colTurns      = iota // branches: taken or not, one bit each, the lowest first
	colControl           // the warp's start address, targets of indirect jumps, operands of control instructions
	colForms             // addresses, operands of unit instructions
	colLow               //
	colHigh              //
	colAnswers           // the unit's answers and the masks they set, in the order of the requests
	colAnswerLow         //
	colAnswerHigh        //
	colWrote             // lanes in which conditional atomics wrote, in the order of the atomics
	colHost              // the host's actions before the launch; belongs to no warp
	numColumns
)

// columnNames are the names in the description of the format (doc.go).
var columnNames = [numColumns]string{"turns", "control", "forms", "low", "high", "answers", "answer-low", "answer-high",
	"wrote", "host"}

// column is a column being written.
type column struct{ b []byte }

func (c *column) byte(b byte)      { c.b = append(c.b, b) }
func (c *column) uvarint(x uint64) { c.b = binary.AppendUvarint(c.b, x) }

// cursor reads a column. After its end, and after invalid data, it reads zeros and is bad.
type cursor struct {
	b   []byte
	bad bool
}

func (c *cursor) fail() { c.b, c.bad = nil, true }

func (c *cursor) byte() byte {
	if len(c.b) == 0 {
		c.bad = true
		return 0
	}
	b := c.b[0]
	c.b = c.b[1:]
	return b
}

// extend appends data.
func (c *cursor) extend(b []byte) {
	if len(c.b) == 0 {
		c.b = b
		return
	}
	c.b = append(c.b, b...)
}

// take reads n bytes; none if there are fewer.
func (c *cursor) take(n int) []byte {
	if len(c.b) < n {
		c.fail()
		return nil
	}
	b := c.b[:n]
	c.b = c.b[n:]
	return b
}

func (c *cursor) uvarint32() uint32 {
	if len(c.b) > 0 && c.b[0] < 0x80 {
		x := uint32(c.b[0])
		c.b = c.b[1:]
		return x
	}
	x, n := binary.Uvarint(c.b)
	if n <= 0 || x > 1<<32-1 {
		c.fail()
		return 0
	}
	c.b = c.b[n:]
	return uint32(x)
}
