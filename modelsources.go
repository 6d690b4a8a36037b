package heddle

import (
	"embed"

	"heddle/internal/version"
)

// modelSources holds the sources on which cycles and statistics depend: the instructions, the units, how a machine is
// assembled and run, the kernels and how they are compiled, how graphs are read and generated, and how an experiment
// runs a point. Results of two builds with equal sources are interchangeable (version.Model). A test compares the list
// with what package experiment imports.
//
//go:embed isa/*.go isa/*.s isa/*.h isa/asm/*.go isa/elf/*.go isa/emu/*.go
//go:embed components/*/*.go configs/*.go
//go:embed rtl/*.go rtl/weaver/*.sv rtl/graphpeg/*.sv rtl/ctrlproc/*.sv rtl/verilated/*.go rtl/verilated/src/*
//go:embed sim/*.go sim/sampled/*.go sim/stats/*.go traces/*.go
//go:embed graph/*.go graphit/*.go graphit/eval/*.go graphit/graphir/*.go graphit/lower/*.go
//go:embed graphit/cextern/*.go graphit/cextern/runtime/*
//go:embed kernels/*.go kernels/*/*.go kernels/asm/*.s internal/tolerance/*.go
//go:embed experiment/features.go experiment/graphit.go experiment/kernels.go experiment/part.go
//go:embed experiment/program.go experiment/replay.go experiment/run.go experiment/steps.go experiment/work.go
var modelSources embed.FS

func init() { version.SetSources(modelSources) }
