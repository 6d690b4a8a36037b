package experiment

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"

	screen "heddle/internal/pty"

	"heddle/internal/testenv"
)

// barPoints are n points of a sweep.
func barPoints(n int) (points []Point) {
	for i := range n {
		p := Point{Axes: []Setting{
			{Key: "variant", Value: "weaver"}, {Key: "machine.core.lsu_queue", Value: fmt.Sprint(i)}, {Key: "machine.core.weaver.table_latency", Value: "16"},
		}}
		points = append(points, p)
	}
	return points
}

// runAll has points of a run begin, move and end, several at the same time, as fast as they can.
func runAll(w *Watch, points, jobs int) {
	next := make(chan int)
	var wg sync.WaitGroup
	for range jobs {
		wg.Go(func() {
			for i := range next {
				w.Started(i, 1000)
				w.Resumed(i, time.Second)
				for edges := uint64(0); edges < 1000; edges += 100 {
					w.Running(i, progressOf(edges))
				}
				fmt.Fprintf(w, "point %d: a notice\n", i)
				w.Finished(Outcome{Point: i, Verified: true, Seconds: 1})
			}
		})
	}
	for i := range points {
		next <- i
	}
	close(next)
	wg.Wait()
}

// soon fails the test if something takes longer.
func soon(t *testing.T, limit time.Duration, do func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); do() }()
	select {
	case <-done:
	case <-time.After(limit):
		t.Fatal("takes longer than", limit)
	}
}

// No point waits for a terminal, whether it is read, changes its size, is tiny, or is not read at all; and only the
// notices remain on it.
func TestBarsOnTerminals(t *testing.T) {
	const n = 1000
	for _, size := range [][2]uint16{{24, 80}, {0, 0}, {1, 1}, {2, 9}, {3, 300}, {60, 12}} {
		master, tty, err := pty.Open()
		if err != nil {
			t.Skip("no pseudo-terminals here:", err)
		}
		require.NoError(t, pty.Setsize(tty, &pty.Winsize{Rows: size[0], Cols: size[1]}))
		s := screen.NewScreen(int(size[0]), 0) // as wide as it takes
		read := make(chan struct{})
		go func() { defer close(read); _, _ = io.Copy(s, master) }()
		r := Runner{Points: barPoints(n), Jobs: 50}
		w := NewBars(r.NewForecast(), tty)
		soon(t, time.Minute, func() { runAll(w, n, 50); w.Close() })
		require.NoError(t, tty.Close())
		<-read
		require.NoError(t, master.Close())
		require.Empty(t, s.Unknown)
		lines := s.Lines()
		require.Len(t, lines, n, "%v", size)
		for _, l := range lines {
			require.Regexp(t, `^point \d+: a notice$`, l)
		}
	}
}

// A terminal or a pipe without a reader stops nothing, and is waited for only a while.
func TestNobodyReadsProgress(t *testing.T) {
	testenv.NeedSlow(t, "it draws bars of thousands of points")
	const n = 2000
	master, tty, err := pty.Open()
	if err != nil {
		t.Skip("no pseudo-terminals here:", err)
	}
	defer master.Close()
	r := Runner{Points: barPoints(n), Jobs: 4}
	bars := NewBars(r.NewForecast(), tty)
	fmt.Fprint(bars, strings.Repeat("it is full\n", 100_000))
	soon(t, time.Minute, func() { runAll(bars, n, 4); bars.Close() })

	_, pipe, err := os.Pipe()
	require.NoError(t, err)
	var log strings.Builder
	beat := NewHeartbeat(r.NewForecast(), pipe, &log, time.Millisecond)
	fmt.Fprint(beat, strings.Repeat("it is full\n", 90_000))
	soon(t, time.Minute, func() { runAll(beat, n, 4); beat.Close() })
}

// A table of bars fits, and keeps the columns that distinguish points as long as it can.
func TestBarsFit(t *testing.T) {
	r := Runner{Points: barPoints(40), Jobs: 40}
	f := r.NewForecast()
	for i := range 40 {
		f.begun(i, 1000, f.start)
		f.Running(i, progressOf(uint64(500)))
	}
	at := f.start.Add(10 * time.Second)
	for columns := 1; columns < 200; columns++ {
		lines := f.bars(at, 24, columns)
		require.Len(t, lines, 23)
		require.Equal(t, "… and 19 more", lines[21])
		require.Equal(t, "0 of 40 points done, 40 running", lines[22][:31])
		for _, l := range lines[:21] {
			if columns > 30 {
				require.Less(t, utf8.RuneCountInString(l), columns)
			}
		}
	}
	require.Equal(t, "variant=weaver lsu_queue=9 table_latency=16  [===================>--------------------] 0 cycles, "+
		"0 cycles/s, 10s left", f.bars(at, 24, 200)[9])
	require.Equal(t, "variant=weaver lsu_queue=9 table_latency=16  [=====>-------] 0 cycles, 10s left",
		f.bars(at, 24, 80)[9])
	require.Equal(t, "weaver 9 16  [===========>-------------] 0 cycles, 10s left", f.bars(at, 24, 60)[9])
	require.Equal(t, "weaver 9 16  0 cycles, 10s left", f.bars(at, 24, 36)[9])
	require.Equal(t, []string{"0 of 2 points done, 0 running"},
		(&Runner{Points: barPoints(2)}).NewForecast().bars(at, 24, 80))
	f.Finished(Outcome{Point: 3})
	f.begun(5, 0, at)
	require.Contains(t, f.bars(at, 24, 80)[4], " 0 cycles")
	require.NotContains(t, f.bars(at, 24, 80)[4], "[", "its edges are not known")
}

// The simulated cycles a second of a slow point are counted one by one: a machine of many cores, or an unlucky one that
// shares its processor, has fewer than a thousand.
func TestRates(t *testing.T) {
	s := status{started: time.Now()}
	for _, c := range []struct {
		cycles uint64
		rate   string
	}{
		{0, "0 cycles/s"},
		{7, "1 cycles/s"},
		{4_999, "500 cycles/s"},
		{5_000, "500 cycles/s"},
		{9_990, "999 cycles/s"},
		{10_000, "1 kcycles/s"},
		{1_234_567, "123 kcycles/s"},
	} {
		s.progress.Cycle = c.cycles
		require.Equal(t, c.rate, s.rate(s.started.Add(10*time.Second)))
	}
	require.Equal(t, "0 cycles/s", s.rate(s.started), "no time has passed")
}
