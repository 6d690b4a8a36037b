package algorithm_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"heddle/graph"
	"heddle/isa"
	"heddle/isa/emu"
	"heddle/kernels/algorithm"
	"heddle/kernels/codegen"
	"heddle/kernels/emit"
	"heddle/kernels/host"
	"heddle/kernels/ir"
)

// degrees are drawn as skewed graphs have them: each order of magnitude as often as the next.
func degrees(n int) (list []uint32) {
	r := rand.New(rand.NewPCG(16, 6))
	for range n {
		list = append(list, 1+r.Uint32N(1<<(1+r.IntN(15))))
	}
	return list
}

// coefficientsOf computes one for each pair of degrees, on a lane or several, and returns the warp instructions too.
func coefficientsOf(t *testing.T, compute func(k *emit.Kernel, out, in func() ir.Value) ir.Value, out, in []uint32,
	lanes int) ([]uint32, emu.Stats) {
	k := emit.New("test")
	k.Strided(k.Count("n"), func(i ir.Value) {
		k.Store(k.Addr("to"), i, compute(k, func() ir.Value { return algorithm.Word(k, "out", i) },
			func() ir.Value { return algorithm.Word(k, "in", i) }))
	})
	built, err := k.Build()
	require.NoError(t, err)
	c, err := codegen.Compile(built, codegen.Options{Base: emu.CodeBase})
	require.NoError(t, err)
	d, err := host.NewFunctional(emu.Config{Cores: 1, Warps: 1, Threads: lanes}, nil)
	require.NoError(t, err)
	im := graph.NewImage(graph.ArrayBase, d.Shape().LineBytes, graph.Reserved(d.Shape().Lanes(), c.Program)...)
	args, at := make([]uint32, len(built.Params)), map[string]uint32{"n": uint32(len(out))}
	for name, data := range map[string][]uint32{"out": out, "in": in, "to": make([]uint32, len(out))} {
		a, err := im.Place(name, data)
		require.NoError(t, err)
		at[name] = a.Addr
	}
	for _, p := range built.Params {
		args[p.Word] = at[p.Name]
	}
	block, err := im.Place("arguments", args)
	require.NoError(t, err)
	im.Write(d)
	_, err = d.Launch(context.Background(), c.Program, block.Addr)
	require.NoError(t, err)
	got := make([]uint32, len(out))
	d.ReadWords(at["to"], got)
	return got, d.Machine.Stats()
}

// TestCoefficients: they are the bits that Go gives, whatever lanes go together, and neighbours do not matter.
func TestCoefficients(t *testing.T) {
	const n = 3000
	out, in := degrees(2 * n)[:n], degrees(2 * n)[n:]
	copy(out, []uint32{1, 1, 2, math.MaxUint32, 1, 3, 1 << 31, math.MaxUint32})
	copy(in, []uint32{1, 2, 2, math.MaxUint32, math.MaxUint32, 3, 1 << 31, 2})
	for _, lanes := range []int{1, 32} {
		for name, want := range map[string]func(out, in uint32) float32{
			"hardware":          func(out, in uint32) float32 { return 1 / root32(out, in) },
			"software-division": func(out, in uint32) float32 { return float32(1 / float64(root32(out, in))) },
			"software":          func(out, in uint32) float32 { return float32(1 / math.Sqrt(float64(out)*float64(in))) },
		} {
			c, err := algorithm.CoefficientByName(name)
			require.NoError(t, err)
			got, _ := coefficientsOf(t, c.Compute, out, in, lanes)
			for i := range got {
				require.Equal(t, math.Float32bits(want(out[i], in[i])), got[i], "%s of %d and %d", name, out[i], in[i])
			}
		}
	}
}

func root32(out, in uint32) float32 {
	product := float32(out) * float32(in)
	return float32(math.Sqrt(float64(product)))
}

// TestCoefficientsCost: in software they take as many instructions as C's (kernels/c/counted), within a quarter.
func TestCoefficientsCost(t *testing.T) {
	const n = 1000
	out, in := degrees(2 * n)[:n], degrees(2 * n)[n:]
	_, without := coefficientsOf(t, func(k *emit.Kernel, out,
		in func() ir.Value) ir.Value {
		return k.AsF32(k.Xor(out(), in()))
	}, out, in, 1)
	counted := countedInC(t)
	for _, c := range algorithm.Coefficients() {
		_, with := coefficientsOf(t, c.Compute, out, in, 1)
		instrs := 1 + float64(with.WarpInstrs-without.WarpInstrs)/n // without one is the exclusive-or
		byClass := ""
		for class, k := range with.ByClass {
			if d := float64(k) - float64(without.ByClass[class]); math.Abs(d) >= n {
				byClass += fmt.Sprintf(" %v %.0f", isa.Class(class), d/n)
			}
		}
		t.Logf("%s: %.1f warp instructions, %.0f in C:%s", c.Name, instrs, counted[c.Name], byClass)
		if c != algorithm.Hardware { // where the kernel has five, and C looks at flags
			assert.InEpsilon(t, counted[c.Name], instrs, 0.25, c.Name)
		}
	}
}

// countedInC reads the output of kernels/c/counted/coefficient.c.
func countedInC(t *testing.T) map[string]float64 {
	text, err := os.ReadFile("../c/counted/coefficient.txt")
	require.NoError(t, err)
	counted := map[string]float64{}
	for line := range strings.Lines(string(text)) {
		name, n := "", 0.0
		_, err := fmt.Sscan(strings.NewReplacer(",", "").Replace(line), &name, &n)
		if err == nil { // else it is of a part
			counted[name] = n
		}
	}
	return counted
}
