// Package silicon compares simulated cycles with times that were measured on a GPU under the same schedules: which
// schedules are ranked alike, what the choice by simulation would cost, and how far times are off after one scale
// factor.
//
// Two rules, set before a machine was compared. Launches are left out on both sides: a time is the median less that of
// as many empty launches, or the sum of the kernels' own durations, and cycles are those on the device, since what the host adds to a launch is a constant that
// a machine is given (workload.launch_overhead), not something that is simulated. And one factor turns all cycles of a
// comparison into time: it does not depend on graph, algorithm or schedule.
package silicon
