// Package cuda writes GraphIt programs as CUDA C++: kernels of their operators, by kernels/cuda, and the host's
// program.
//
// It knows no machine code and no time. What a program should compute is the evaluator's result, in a file.
package cuda
