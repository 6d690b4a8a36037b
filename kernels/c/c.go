// Package c has the C side of programs on the simulated machine: a header with the machine's own instructions, a small
// runtime, and the script that builds programs with them. README.md beside it is the documentation.
package c

import "embed"

// Files are the files needed to build a program: build.sh, heddle.h and runtime/.
//
//go:embed build.sh heddle.h runtime
var Files embed.FS
