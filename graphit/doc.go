// Package graphit reads GraphIt programs: the algorithm language of GraphIt (OOPSLA 2018; CGO 2020 for priority queues)
// and the scheduling languages of its compilers for CPUs and for GPUs (UGF, Tables 3.1 and 3.2).
//
// Parse builds a program's syntax tree, Check assigns every expression its type, Format formats a program. A schedule
// follows the program, below "schedule:", or has its own file.
//
// This package knows no graphs and no machine. graphit/eval defines the semantics of programs; graphit/graphir and
// graphit/lower compile them for a machine.
package graphit
