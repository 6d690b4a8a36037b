package silicon

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/internal/plain"
	"heddle/kernels/schedule"
)

const head = "variant,graph,n,m,maxdeg,alg,config,sched,super_steps,launches," +
	"grid,regs,us_med,us_min,us_p90,us_null,us_cold\n"

const line2 = "as is,g,4,6,2,bfs,full,edge,3,4,1,16,10,9,11,2,0\n"

func TestRead(t *testing.T) {
	c, err := Read("x.csv", strings.NewReader(head+line2+"as is,g,4,6,2,bfs,full,vertex,3,4,1,16,20.5,20.5,20.5,2,\n"))
	require.NoError(t, err)
	require.Equal(t, Row{"as is", "g", "bfs", "full", "edge", 3, 4, 1024, Times{10, 9, 11, 2}}, c.Rows[0])
	require.InDelta(t, 18.5, c.Rows[1].Net(), 0)
	require.Equal(t, []Graph{{"g", 4, 6, 2}}, c.Graphs)
	require.Equal(t, []string{"vertex", "edge"}, c.Schedules(), "in the order of tables")

	// columns in another order, with a mark of spreadsheets, without those that are not needed
	c, err = Read("x.csv", strings.NewReader("\ufeffus_null,us_p90,us_min,us_med,launches,super_steps,"+
		"sched,config,alg,m,n,graph,variant\r\n"+
		"2,11,9,10,4,3,edge,full,bfs,6,4,g,as is\r\n"))
	require.NoError(t, err)
	require.Equal(t, Row{"as is", "g", "bfs", "full", "edge", 3, 4, 1024, Times{10, 9, 11, 2}}, c.Rows[0])
}

// TestReadRefuses names line and column of whatever is wrong.
func TestReadRefuses(t *testing.T) {
	row := func(old, new string) string { return head + line2 + strings.Replace(line2, old, new, 1) }
	for _, c := range []struct{ name, text, says string }{
		{"empty", "", "x.csv:1:1: empty: expected the columns variant,graph"},
		{"no rows", head, "x.csv:1:1: no rows"},
		{"column missing", strings.Replace(head, ",us_null", "", 1), "x.csv:1:95: no column us_null"},
		{"block", strings.Replace(head, "grid", "block", 1) + strings.Replace(line2, ",4,1,16,", ",4,2048,16,", 1),
			`x.csv:2:33: block "2048": expected an integer 1..1024`},
		{"column twice", strings.Replace(head, "maxdeg", "alg", 1), "x.csv:1:23: column alg stands twice"},
		{"fields", head + "a,b\n", "x.csv:2:1: wrong number of fields"},
		{"quotes", head + "as \"is,g\n", "x.csv:2:4: bare \""},
		{"algorithm", row("bfs", "dfs"), `x.csv:3:15: alg "dfs": expected one of pr-push, pr-pull, bfs, cc, sssp, spmv`},
		{"schedule", row("edge", "weaver"), `x.csv:3:24: sched "weaver": expected one of vertex, warp`},
		{"number", row(",4,6", ",four,6"), `x.csv:3:9: n "four": expected an integer 1..`},
		{"no vertices", row(",4,6", ",0,6"), `x.csv:3:9: n "0"`},
		{"too many", row(",4,6", ",4,99999999999"), `x.csv:3:11: m "99999999999"`},
		{"not a time", row("10,9,11", "NaN,9,11"), `x.csv:3:38: us_med "NaN": expected microseconds`},
		{"infinite", row("10,9,11", "10,9,Inf"), `us_p90 "Inf"`},
		{"negative", row("11,2,0", "11,-2,0"), `us_null "-2"`},
		{"order", row("10,9,11", "10,12,11"), "x.csv:3:38: us_min 12, us_med 10, us_p90 11: expected times"},
		{"zero", row("10,9,11", "10,0,11"), "us_min 0"},
		{"again", head + line2 + line2, "x.csv:3:1: as is, g, bfs, full, edge stands in line 2 already"},
		{"other graph", row(",4,6,2,bfs", ",4,8,2,cc"), "x.csv:3:9: g has 4 vertices and 8 edges, and 4 and 6 in line 2"},
		{"path", row(",g,", ",../g,"), `x.csv:3:7: graph "../g": expected letters`},
		{"slash", row(",g,", ",a/b,"), `graph "a/b"`},
		{"escape", row("as is", "as\x1b[31m"), `x.csv:3:1: variant "as\x1b[31m"`},
		{"bar", row("full", "a|b"), `config "a|b"`},
		{"long", row("full", strings.Repeat("x", 500)), "expected a text of 1 to 80 bytes"},
		{"empty name", row("full", ""), `config ""`},
		{"large", head + strings.Repeat("\n", MaxBytes), "expected at most 16 MiB"},
	} {
		_, err := Read("x.csv", strings.NewReader(c.text))
		require.ErrorContains(t, err, c.says, c.name)
		require.ErrorAs(t, err, new(*ParseError), c.name)
		for _, l := range strings.Split(err.Error(), "\n") {
			require.True(t, plain.Is(l), "%s: %q", c.name, l)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(head + line2))
	f.Add([]byte(strings.ReplaceAll(head+line2, "\n", "\r\n")))
	f.Add([]byte(head + "\"as is\",g,4,6,2,bfs,full,edge,3,4,1,16,1e1,9,0x1p4,2,0\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Read("f", bytes.NewReader(data))
		if err != nil {
			var ours *ParseError
			if !errors.As(err, &ours) || ours.Line < 1 || ours.Column < 1 {
				t.Fatalf("%T %v", err, err)
			}
			return
		}
		if len(c.Rows) == 0 || len(c.Graphs) == 0 {
			t.Fatal("accepted without rows")
		}
		// whatever is accepted can be compared: each of its configurations with itself
		for i := range c.Rows {
			r := &c.Rows[i]
			k := c.Compare("m", "1", Against{r.Variant, r.Config}, map[Key]Simulated{
				{"m", "1", r.Graph, r.Algorithm, r.Schedule}: {Cycles: 1}})
			if len(k.Cases) != 0 {
				t.Fatal("a case of one schedule")
			}
			if len(c.Rows) > 50 {
				break
			}
		}
	})
}

// TestSchedulesAreHeddles: every schedule that can be measured is one of workload.schedule.
func TestSchedulesAreHeddles(t *testing.T) {
	for _, name := range Schedules {
		s, err := schedule.ByName(name)
		require.NoError(t, err)
		require.Empty(t, s.UnitName())
	}
}

// TestRecordedCampaign: the shipped file has the rows that the page compares.
func TestRecordedCampaign(t *testing.T) {
	c := recorded(t, "h100.csv")
	require.Len(t, c.Rows, 980)
	require.Equal(t, []string{"as is", "vertex not unrolled"}, c.Variants())
	require.Equal(t, "full1024", c.Configs()[0])
	require.Equal(t, algorithmNames()[:5], c.Algorithms(), "without SpMV")
	require.Equal(t, Schedules, c.Schedules())
	for config, threads := range map[string]int{"full1024": 1024, "full256": 256, "sm6": 1024, "sm60": 1024} {
		block, err := c.Block([]Against{{"as is", config}})
		require.NoError(t, err)
		require.Equal(t, threads, block, config)
	}
	_, err := c.Block([]Against{{"as is", "full1024"}, {"as is", "full256"}})
	require.ErrorContains(t, err, "thread blocks of full1024 have 1024 threads, and those of full256 256: expected the "+
		"same")
	own := recorded(t, "h100-heddle.csv")
	require.Len(t, own.Rows, 1260)
	require.Equal(t, []string{"heddle kernel export"}, own.Variants())
	require.Equal(t, algorithmNames(), own.Algorithms())
	require.Equal(t, Schedules, own.Schedules())
}

func recorded(t *testing.T, name string) *Campaign {
	t.Helper()
	f, err := os.Open("../../docs/results/silicon/" + name)
	require.NoError(t, err)
	defer f.Close() //nolint:errcheck // read only
	c, err := Read("docs/results/silicon/"+name, f)
	require.NoError(t, err)
	return c
}
