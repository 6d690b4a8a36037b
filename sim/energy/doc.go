// Package energy computes the energy of a run from its statistics: each counted event times its energy, and power times
// time. A run counts nothing for it, and so takes the same host time with and without.
//
// A Table (configs/energy) has the energies, each with a low, a nominal and a high value and a source. Its lines name
// statistics; a machine's shape and DRAM part complete them. No sum has the consumers that a table lists as
// NotModelled.
//
// # Uncertainty
//
// A Result is linear in the table's values, so bounds are exact: the lowest energy is that of all low values. Compare
// gives the ratio of two results, its 95 % interval if each value is drawn between low and high independently of the
// others, but alike for both (common errors cancel), its extremes over all values, and whether the order of the two is
// the same throughout.
//
// # Technology
//
// A value that its source gives for another process is scaled: by the square of the voltages' ratio, times the ratio of
// the feature sizes to the power of 1/3; 1 for the low and 0 for the high value where the process is smaller. 1/3 is
// the mean exponent of the seven pairs of 45 nm and 7 nm that Jouppi et al. print (ISCA 2021, Table 2), from -0.04
// (an SRAM of 8 KB) to 0.86 (one of 1 MB), at 0.9 and, which they do not say, 0.75 V. A test has these pairs.
package energy
