// Package cuda writes GraphIt programs as CUDA C++: kernels of their operators, by kernels/cuda, and the host's
// program.
//
// It knows no machine code and no time. What a program should compute is the evaluator's result, in a file.
//
// It refuses by name: doubles without --float; uint_64 beyond 32 bits; extern functions in Go and in C; graph units; a
// second queue, queues with higher priorities first, applyUpdatePriorityExtern; lists of numbers; intersections by bits
// or hash tables; relabel of a graph whose vertices have other numbers; and what kernels/cuda refuses of a kernel.
package cuda
