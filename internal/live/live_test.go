package live

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"

	screen "heddle/internal/pty"
)

// Lines stay above the foot, which is drawn anew below them, cut to the terminal, and gone at the end.
func TestAFoot(t *testing.T) {
	master, tty, err := pty.Open()
	if err != nil {
		t.Skip("no pseudo-terminals here:", err)
	}
	require.NoError(t, pty.Setsize(tty, &pty.Winsize{Rows: 4, Cols: 20}))
	require.True(t, IsTerminal(tty))
	s := screen.NewScreen(4, 20)
	read := make(chan struct{})
	go func() { defer close(read); _, _ = io.Copy(s, master) }()
	l := NewTerminal(tty, func(_ time.Time, rows, columns int) []string {
		return []string{"not shown", fmt.Sprint(rows, " ", columns), "\x1b[31mred", strings.Repeat("長い", 20)}
	})
	for i := range 30 {
		fmt.Fprintf(l, "line %d\n", i)
		time.Sleep(time.Millisecond)
	}
	time.Sleep(2 * refresh)
	l.Close()
	require.NoError(t, tty.Close())
	<-read
	require.NoError(t, master.Close())
	require.Empty(t, s.Unknown)
	require.Empty(t, s.Wrapped)
	var want []string
	for i := range 30 {
		want = append(want, fmt.Sprint("line ", i))
	}
	require.Equal(t, want, s.Lines())
}

// fit keeps to the last rows and all but the last column, and knows wide characters.
func TestFit(t *testing.T) {
	require.Equal(t, []string{"4 20", `\x1b[31mred`, "長い長い長い長い長…"},
		fit([]string{"not shown", "4 20", "\x1b[31mred", strings.Repeat("長い", 20)}, 4, 20))
	require.Empty(t, fit([]string{"a"}, 1, 80))
	require.Empty(t, fit([]string{"a"}, 24, narrow-1))
}

// Unread output is bounded, and a line reports the loss once reading resumes; Write never waits, and Close gives up.
func TestAPipeThatIsNotRead(t *testing.T) {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	require.False(t, IsTerminal(w))
	l := New(w, time.Millisecond, func(time.Time) string { return "beat\n" })
	const n = 100_000
	for range n {
		fmt.Fprintln(l, strings.Repeat("x", 99))
	}
	begin := time.Now()
	l.Close()
	require.GreaterOrEqual(t, time.Since(begin), patience)
	read := make(chan string)
	go func() { text, _ := io.ReadAll(r); read <- string(text) }()
	<-l.ended
	require.NoError(t, w.Close())
	text := <-read
	require.Regexp(t, `heddle: warning: \d+ bytes of messages are left out here, since they were not read in time\n`, text)
	require.Less(t, len(text), 3*most)
	for _, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		require.True(t, line == "beat" || len(line) == 99 || strings.HasPrefix(line, "heddle: "), line)
	}
}

// stopped is a terminal that takes one write more, once it has been stopped, when it goes on.
type stopped struct {
	on   chan struct{} // closed: it goes on
	text chan string
}

func (s stopped) Write(b []byte) (int, error) {
	<-s.on
	s.text <- string(b)
	return len(b), nil
}

// TestAFootIsLeftToAStoppedTerminal: a foot that Close could not remove in time stays, since other text may be below
// it.
func TestAFootIsLeftToAStoppedTerminal(t *testing.T) {
	s := stopped{make(chan struct{}), make(chan string, 10)}
	l := NewTerminal(s, func(time.Time, int, int) []string { return []string{"foot"} })
	time.Sleep(2 * refresh) // the foot is being written
	l.Close()
	close(s.on)
	<-l.ended
	close(s.text)
	var all string
	for text := range s.text {
		all += text
	}
	require.Equal(t, "foot\n", all)
}
