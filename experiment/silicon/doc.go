// Package silicon compares simulated cycles with times that were measured on a GPU under the same schedules: which
// schedules are ranked alike, the cost of choosing by simulation, and the error of times after one scale factor.
//
// Two rules, set before a machine was compared. Launches are left out on both sides: a time is the median less that of
// as many empty launches, or the sum of the kernels' own durations, and cycles are those on the device, since the
// host's share of a launch is a constant of the configuration (workload.launch_overhead), which is not simulated. And
// one factor turns all cycles of a comparison into time: it does not depend on graph, algorithm or schedule.
package silicon
