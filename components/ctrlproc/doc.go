// Package ctrlproc is the part of the GPU's control processor that balances work between the
// cores' graph units (GraphPEG, ACM TACO 2021, §3.3.2): it reads their loads over the on-chip
// network, lets one of them donate to another, and says when all are done.
//
// Processor is its logic, cycle by cycle without a clock; Control is the component around
// it. Ideal balances in every cycle at no cost, for comparison. This package knows no unit:
// only the messages of package balance.
package ctrlproc
