package c_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/internal/testenv"
)

const randomPrograms = 8

// TestRandomPrograms compares random control flow on diverging lanes with the
// same code as plain C run by one lane.
func TestRandomPrograms(t *testing.T) {
	testenv.NeedSlow(t, "it is a campaign")
	dir := t.TempDir()
	var sources []string
	for seed := range uint64(randomPrograms) {
		file := filepath.Join(dir, fmt.Sprintf("random%d.c", seed))
		require.NoError(t, os.WriteFile(file, []byte(randomProgram(seed)), 0o644))
		sources = append(sources, file)
	}
	for _, opt := range optimisations(t) {
		t.Run(opt, func(t *testing.T) {
			t.Parallel()
			out := build(t, opt, sources...)
			for seed := range randomPrograms {
				p := load(t, filepath.Join(out, fmt.Sprintf("random%d.elf", seed)))
				for _, s := range []shape{{1, 2, 32}, {2, 3, 7}} {
					got, code := run(t, p, s, 128, nil)
					require.Equal(t, "all right\n", got, "seed %d, %v", seed, s)
					require.Zero(t, code)
				}
			}
		})
	}
}

// randomProgram writes one function twice: with the macros, and with macros that
// mean plain C. Its variables differ by hart; n and the for counters do not.
func randomProgram(seed uint64) string {
	g := generator{Rand: rand.New(rand.NewPCG(seed, 0)), uniform: []string{"n"}}
	for range 6 {
		g.statement(0, false)
	}
	body := `(unsigned *m, unsigned a, unsigned n)
{
	unsigned b = a * 2654435761u, c = b ^ a << 7, d = n;
` + g.String() + `	return a ^ mix(&b, c) * 3 ^ d * 7;
}
`
	return `#include "heddle.h"

#pragma GCC diagnostic ignored "-Wtype-limits"

enum { HARTS = 64, WORDS = 8 };
static unsigned memory[HARTS][WORDS], got[HARTS];

static __attribute__((noinline)) unsigned mix(unsigned *x, unsigned y)
{
	*x ^= y * 2654435761u;
	return *x >> 3;
}

static __attribute__((noinline)) unsigned simt` + body + `
#undef HD_IF
#undef HD_ENDIF
#undef HD_WHILE
#undef HD_ENDWHILE
#define HD_IF(condition) if (condition)
#define HD_ENDIF
#define HD_WHILE(condition) while (condition)
#define HD_ENDWHILE

static __attribute__((noinline)) unsigned plain` + body + `
static void kernel(void *n)
{
	got[hd_hart()] = simt(memory[hd_hart()], hd_hart() + 1, *(unsigned *)n);
}

int main(void)
{
	volatile unsigned n = 3;
	hd_launch(kernel, (void *)&n);
	hd_device_barrier();
	if (hd_core() != 0)
		return 0;
	for (unsigned h = 0; h < hd_num_harts(); h++) {
		unsigned m[WORDS] = {0};
		unsigned want = plain(m, h + 1, n);
		if (got[h] != want || memcmp(m, memory[h], sizeof m) != 0) {
			hd_printf("WRONG for hart %u\n", h);
			return 1;
		}
	}
	hd_puts("all right");
	return 0;
}
`
}

// generator writes statements at a depth of nesting.
type generator struct {
	*rand.Rand
	strings.Builder
	uniform []string // what a plain branch may be on
	names   int
}

const deepest = 4

func (g *generator) line(depth int, format string, args ...any) {
	g.WriteString(strings.Repeat("\t", depth+1) + fmt.Sprintf(format, args...) + "\n")
}

func (g *generator) pick(from ...string) string { return from[g.IntN(len(from))] }

func (g *generator) variable() string { return g.pick("a", "b", "c", "d") }

func (g *generator) name(prefix string) string {
	g.names++
	return fmt.Sprintf("%s%d", prefix, g.names)
}

func (g *generator) value() string {
	switch g.IntN(6) {
	case 0:
		return fmt.Sprintf("%du", 1+g.IntN(99))
	case 1:
		return "m[" + g.variable() + " & 7]"
	case 2:
		return g.pick(g.uniform...)
	}
	return g.variable()
}

// expression has no comparison in it: of (x < y) * z gcc makes a branch.
func (g *generator) expression() string {
	if g.IntN(4) == 0 {
		return fmt.Sprintf("(%s >> %d)", g.value(), 1+g.IntN(9))
	}
	return fmt.Sprintf("(%s %s %s)", g.value(), g.pick("+", "-", "*", "^", "&", "|"), g.value())
}

func (g *generator) condition() string {
	c := fmt.Sprintf("(%s & %d) %s %d", g.expression(), 7, g.pick("<", ">", "==", "!="), 1+g.IntN(6))
	if g.IntN(3) == 0 {
		return fmt.Sprintf("(%s) %s (%s < %s)", c, g.pick("&", "|"), g.variable(), g.expression())
	}
	return c
}

func (g *generator) block(depth int, inLoop bool) {
	for range 1 + g.IntN(3) {
		g.statement(depth+1, inLoop)
	}
}

// statement writes one statement; inLoop reports whether break and continue would
// leave no HD_ block.
func (g *generator) statement(depth int, inLoop bool) {
	kind := g.IntN(10)
	if depth >= deepest {
		kind = g.IntN(3)
	}
	switch kind {
	case 0, 1:
		g.line(depth, "%s = %s;", g.variable(), g.expression())
	case 2:
		g.store(depth)
	case 3, 4:
		g.conditional(depth)
	case 5:
		g.loop(depth)
	case 6:
		g.uniformLoop(depth)
	case 7:
		g.uniformConditional(depth, inLoop)
	case 8:
		g.knownOnOneSide(depth)
	case 9:
		g.leave(depth, inLoop)
	}
}

func (g *generator) store(depth int) {
	if g.IntN(2) == 0 {
		g.line(depth, "m[%s & 7] = %s;", g.variable(), g.expression())
		return
	}
	g.line(depth, "%s += mix(m + (%s & 7), %s);", g.variable(), g.variable(), g.value())
}

func (g *generator) conditional(depth int) {
	g.line(depth, "HD_IF (%s) {", g.condition())
	g.block(depth, false)
	if g.IntN(2) == 0 {
		g.line(depth, "} HD_ELSE {")
		g.block(depth, false)
	}
	g.line(depth, "}")
	g.line(depth, "HD_ENDIF")
}

func (g *generator) loop(depth int) {
	k := g.name("k")
	g.line(depth, "unsigned %s = %s & 3;", k, g.expression())
	g.line(depth, "HD_WHILE (%s > 0) {", k)
	g.line(depth+1, "%s--;", k)
	g.block(depth, false)
	g.line(depth, "}")
	g.line(depth, "HD_ENDWHILE")
}

func (g *generator) uniformLoop(depth int) {
	u := g.name("u")
	g.line(depth, "for (unsigned %s = 0; %s < %s; %s++) {", u, u, g.pick("n", "2", "4"), u)
	g.uniform = append(g.uniform, u)
	g.block(depth, true)
	g.uniform = g.uniform[:len(g.uniform)-1]
	g.line(depth, "}")
}

func (g *generator) uniformConditional(depth int, inLoop bool) {
	g.line(depth, "if (%s & 1) {", g.pick(g.uniform...))
	g.block(depth, inLoop)
	g.line(depth, "}")
}

// knownOnOneSide makes a uniform condition of a value that the compiler knows on
// one side of a divergent one.
func (g *generator) knownOnOneSide(depth int) {
	f := g.name("f")
	g.line(depth, "unsigned %s;", f)
	g.line(depth, "HD_IF (%s) {", g.condition())
	g.line(depth+1, "%s = 1;", f)
	g.block(depth, false)
	g.line(depth, "} HD_ELSE {")
	g.line(depth+1, "%s = n;", f)
	g.block(depth, false)
	g.line(depth, "}")
	g.line(depth, "HD_ENDIF")
	g.line(depth, "if (%s) {", f)
	g.line(depth+1, "%s += %s;", g.variable(), f)
	g.block(depth, false)
	g.line(depth, "}")
}

// leave is a uniform break or continue where that leaves no HD_ block.
func (g *generator) leave(depth int, inLoop bool) {
	if !inLoop {
		g.line(depth, "%s ^= %s;", g.variable(), g.expression())
		return
	}
	g.line(depth, "if (%s == 2)", g.uniform[len(g.uniform)-1])
	g.line(depth+1, "%s;", g.pick("break", "continue"))
}
