// Package report turns the results of an experiment into one page that opens offline, and each of its plots into an SVG
// file.
//
// It knows an experiment only by its result files, which only read.go reads. The page of one run's hot spots shows the
// output of report/hotspots. All contents are shown as text: none of it becomes markup or script.
package report
