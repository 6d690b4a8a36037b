// Package dram is a cycle-level model of DRAM channels and their controllers:
// HBM2, HBM3, DDR4, GDDR6, GDDR5, or an ideal memory of fixed latency and bandwidth.
//
// It has three types: Channel, the model, which the rest of this page is about; Memory, the component that connects
// channels to links on a clock of their own; and Harness, which connects them to the queue that Vortex's RTL simulation
// has in place of a memory, only for cycle parity with it.
//
// Channel is pure logic on integer DRAM clocks: Tick, Enqueue, PopDone and NextEvent. It knows neither messages, links,
// an engine nor data: requests carry line numbers, and the component around it moves messages and converts clocks.
//
// # Time
//
// Within clock c the order is Tick(c), PopDone(c), Enqueue(c, …): a request
// enqueued at c has arrival c, and its first command can issue at c+1. A read's
// last data beat is at its RD + CL + BL, a write's at its WR + CWL + BL; that
// clock is its completion. Clocks may be skipped up to NextEvent without
// changing any result.
//
// # Timing rules are data
//
// standards.go has one line per rule in JEDEC symbols (level, preceding →
// following, clocks); a variant states only its differences. state.go keeps, for
// each node of the hierarchy and each command, the absolute clock from which
// that command is legal; a command is ready when the four nodes above it agree.
//
// # The controller's clock
//
//  1. At a multiple of REFI, ask for one REF per rank (HBM: pseudo channel).
//  2. Issue at most one command; with a split bus one column command (RD, WR),
//     then one row command (ACT, PRE, PREA, REF).
//     a. From the active list, the requests whose ACT has issued and whose RD or
//     WR has not: the oldest that is ready.
//     b. Else, if a refresh waits: its next command (PREA, then REF). While it
//     cannot issue, no request outside the active list makes progress, not even
//     in another rank.
//     c. Else from the read or the write queue: each request's next command is
//     PRE (another row is open), ACT (closed) or RD/WR (its row is open); the
//     oldest whose next command is ready. A PRE never closes a row which a
//     request of the active list waits for.
//  3. Writes are served from DrainHigh queued writes on, or when no read waits,
//     until DrainLow or fewer are left and a read waits.
//
// So "FR-FCFS" is Ramulator 2's: a ready PRE of an older request goes before a
// younger row hit. FRFCFSRowHit lets row hits that arrived no later go first.
// A read of a queued write's line is answered from the queue at the next clock,
// or with the last read on its way: reads return in order. With OneReadAClock it is a clock later than that
// read, as Ramulator 2.0 answers one a clock.
// Refresh is all-bank, never postponed.
//
// # Validation
//
// References are Ramulator 2.0 (e62c84a, "r20") and 2.1 (c5b1c3a, "r21"). Every request and command of the small
// sequences of testdata/micro.csv and commands.csv is equal to the clock, and so are the timing rules
// (testdata/constraints.csv), except for two that are wrong or missing in Ramulator (standards.go). testdata/check.csv
// has the mean read latencies, throughputs and row-hit rates of loaded runs; check_test.go prints the deviation of each
// configuration (HEDDLE_LONG=1 runs all points). The preset gddr5 has no such reference;
// hbm3-5.2gbps is held to its datasheet and to an H100 (hbm3_test.go).
//
// Known simplification, as in Ramulator: an RDA counts RTP + RP to the next ACT, and ignores that its row must have
// been open for RAS; RC bounds the error.
//
// Not modelled: power-down, per-bank refresh, ECC, DBI, postponed refresh.
package dram
