// Package ctrlproc is the part of the GPU's control processor that balances work among the cores' graph units
// (GraphPEG, ACM TACO 2021, §3.3.2): it reads their loads over the on-chip network, lets one unit donate to another,
// and detects the end of all work.
//
// Its micro-architecture is that of the SystemVerilog in rtl/ctrlproc, which has the same outputs in the same cycles.
// What the model takes for granted and hardware pays for is said there: a message from and to each core in a cycle is
// a crossbar, and a policy decided in one cycle a deep tree of comparators. Queues of commands, unbounded here, hold
// six.
//
// Processor is its logic, cycle by cycle without a clock; Control is the clocked component around it. Ideal balances in
// every cycle in zero time, for comparison. This package knows no unit, only the messages of package balance.
package ctrlproc
