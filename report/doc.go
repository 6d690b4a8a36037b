// Package report turns the results of an experiment into one page that opens
// offline, and each of its plots into an SVG file.
//
// It knows an experiment only by the files it has left: read.go reads them, and nothing
// else does. The page of one run's hot spots shows what report/hotspots has made of its machine. What they
// hold is shown as text, whatever it is: none of it becomes markup or script.
package report
