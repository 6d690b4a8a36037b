// Command heddle simulates Vortex-like SIMT GPUs with graph-processing units.
package main

import "heddle/cmd"

func main() { cmd.Main() }
