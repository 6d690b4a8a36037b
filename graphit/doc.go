// Package graphit reads GraphIt programs: the algorithm language of GraphIt (OOPSLA 2018; CGO 2020 for priority queues)
// and the scheduling languages of its compilers for CPUs and for GPUs (UGF, Tables 3.1 and 3.2).
//
// Parse makes a syntax tree of a program, Check gives every expression its type, Format lays a program out. A schedule
// stands behind the program, below "schedule:", or in a file of its own.
//
// This package knows no graphs and no machine. What a program means is in graphit/eval, what becomes of it on a machine
// in graphit/graphir and graphit/lower.
package graphit
