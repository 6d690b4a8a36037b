package dram

import "slices"

// Sets of commands that the rules name.
var (
	anyRD     = setOf(RD, RDA)
	anyWR     = setOf(WR, WRA)
	columnSet = anyRD | anyWR
	rowSet    = setOf(ACT, PRE, PREA, REF)
)

// hbm2Rules: JESD235D as implemented by Ramulator 2.1. A rank is a pseudo channel with a data bus of its own; row and
// column commands have a bus each. An ACT takes two clocks of the row bus and takes effect in the second one: hence
// each + 1 from an ACT and - 1 to an ACT.
var hbm2Rules = []Rule{
	{LevelChannel, setOf(ACT), rowSet, "2", EachPair},

	{LevelRank, anyRD, anyRD, "nBL", EachPair},
	{LevelRank, anyWR, anyWR, "nBL", EachPair},
	{LevelRank, anyRD, anyRD, "nCCDS", EachPair},
	{LevelRank, anyWR, anyWR, "nCCDS", EachPair},
	{LevelRank, anyRD, anyWR, "nCL + nBL + 2 - nCWL", EachPair},
	{LevelRank, anyWR, anyRD, "nCWL + nBL + nWTRS", EachPair},
	{LevelRank, setOf(RD), setOf(PREA), "nRTPL", EachPair},
	{LevelRank, setOf(WR), setOf(PREA), "nCWL + nBL + nWR", EachPair},
	{LevelRank, setOf(ACT), setOf(ACT), "nRRDS", EachPair},
	{LevelRank, setOf(ACT), setOf(ACT), "nFAW", FourthBack},
	{LevelRank, setOf(ACT), setOf(PREA), "nRAS + 1", EachPair},
	{LevelRank, setOf(PREA), setOf(ACT), "nRP - 1", EachPair},
	{LevelRank, setOf(ACT), setOf(REF), "nRC + 1", EachPair},
	{LevelRank, setOf(PRE, PREA), setOf(REF), "nRP", EachPair},
	{LevelRank, setOf(RDA), setOf(REF), "nRTPL + nRP", EachPair},
	{LevelRank, setOf(WRA), setOf(REF), "nCWL + nBL + nWR + nRP", EachPair},
	{LevelRank, setOf(REF), setOf(ACT), "nRFC - 1", EachPair},
	{LevelRank, setOf(REF), setOf(PREA), "nRFC", EachPair},

	{LevelBankGroup, anyRD, anyRD, "nCCDL", EachPair},
	{LevelBankGroup, anyWR, anyWR, "nCCDL", EachPair},
	{LevelBankGroup, anyWR, anyRD, "nCWL + nBL + nWTRL", EachPair},
	{LevelBankGroup, setOf(ACT), setOf(ACT), "nRRDL", EachPair},

	{LevelBank, setOf(ACT), setOf(ACT), "nRC", EachPair},
	{LevelBank, setOf(ACT), anyRD, "nRCDRD + 1", EachPair},
	{LevelBank, setOf(ACT), anyWR, "nRCDWR + 1", EachPair},
	{LevelBank, setOf(ACT), setOf(PRE), "nRAS + 1", EachPair},
	{LevelBank, setOf(PRE), setOf(ACT), "nRP - 1", EachPair},
	{LevelBank, setOf(RD), setOf(PRE), "nRTPL", EachPair},
	{LevelBank, setOf(WR), setOf(PRE), "nCWL + nBL + nWR", EachPair},
	{LevelBank, setOf(RDA), setOf(ACT), "nRTPL + nRP - 1", EachPair},
	{LevelBank, setOf(WRA), setOf(ACT), "nCWL + nBL + nWR + nRP - 1", EachPair},
}

// hbm2R20Rules: Ramulator 2.0 ignores the second clock of an ACT, and uses nRTPS towards PREA and REF.
var hbm2R20Rules = replaced(hbm2Rules,
	Rule{LevelRank, setOf(RD), setOf(PREA), "nRTPS", EachPair},
	Rule{LevelRank, setOf(ACT), setOf(PREA), "nRAS", EachPair},
	Rule{LevelRank, setOf(PREA), setOf(ACT), "nRP", EachPair},
	Rule{LevelRank, setOf(ACT), setOf(REF), "nRC", EachPair},
	Rule{LevelRank, setOf(RDA), setOf(REF), "nRTPS + nRP", EachPair},
	Rule{LevelRank, setOf(REF), setOf(ACT), "nRFC", EachPair},
	Rule{LevelRank, setOf(REF), setOf(PREA), "0", EachPair},
	Rule{LevelBank, setOf(ACT), anyRD, "nRCDRD", EachPair},
	Rule{LevelBank, setOf(ACT), anyWR, "nRCDWR", EachPair},
	Rule{LevelBank, setOf(ACT), setOf(PRE), "nRAS", EachPair},
	Rule{LevelBank, setOf(PRE), setOf(ACT), "nRP", EachPair},
	Rule{LevelBank, setOf(RDA), setOf(ACT), "nRTPL + nRP", EachPair},
	Rule{LevelBank, setOf(WRA), setOf(ACT), "nCWL + nBL + nWR + nRP", EachPair},
)

// ddr4Rules: JESD79-4 as implemented by Ramulator 2.1, except for the sibling rules: the ranks share the data bus, and
// Ramulator's RD → WR of nBL + nCS lets the bursts of two ranks overlap.
var ddr4Rules = []Rule{
	{LevelChannel, anyRD, anyRD, "nBL", EachPair},
	{LevelChannel, anyWR, anyWR, "nBL", EachPair},

	{LevelRank, anyRD, anyRD, "nCCDS", EachPair},
	{LevelRank, anyWR, anyWR, "nCCDS", EachPair},
	{LevelRank, anyRD, anyWR, "nCL + nBL + 2 - nCWL", EachPair},
	{LevelRank, anyWR, anyRD, "nCWL + nBL + nWTRS", EachPair},
	{LevelRank, anyRD, anyRD, "nBL + nCS", Sibling},
	{LevelRank, anyWR, anyWR, "nBL + nCS", Sibling},
	{LevelRank, anyRD, anyWR, "nCL + nBL + nCS - nCWL", Sibling},
	{LevelRank, anyWR, anyRD, "nCWL + nBL + nCS - nCL", Sibling},
	{LevelRank, setOf(RD), setOf(PREA), "nRTP", EachPair},
	{LevelRank, setOf(WR), setOf(PREA), "nCWL + nBL + nWR", EachPair},
	{LevelRank, setOf(ACT), setOf(ACT), "nRRDS", EachPair},
	{LevelRank, setOf(ACT), setOf(ACT), "nFAW", FourthBack},
	{LevelRank, setOf(ACT), setOf(PREA), "nRAS", EachPair},
	{LevelRank, setOf(PREA), setOf(ACT), "nRP", EachPair},
	{LevelRank, setOf(ACT), setOf(REF), "nRC", EachPair},
	{LevelRank, setOf(PRE, PREA), setOf(REF), "nRP", EachPair},
	{LevelRank, setOf(RDA), setOf(REF), "nRTP + nRP", EachPair},
	{LevelRank, setOf(WRA), setOf(REF), "nCWL + nBL + nWR + nRP", EachPair},
	{LevelRank, setOf(REF), setOf(ACT, PREA), "nRFC", EachPair},

	{LevelBankGroup, anyRD, anyRD, "nCCDL", EachPair},
	{LevelBankGroup, anyWR, anyWR, "nCCDL", EachPair},
	{LevelBankGroup, anyWR, anyRD, "nCWL + nBL + nWTRL", EachPair},
	{LevelBankGroup, setOf(ACT), setOf(ACT), "nRRDL", EachPair},

	{LevelBank, setOf(ACT), setOf(ACT), "nRC", EachPair},
	{LevelBank, setOf(ACT), columnSet, "nRCD", EachPair},
	{LevelBank, setOf(ACT), setOf(PRE), "nRAS", EachPair},
	{LevelBank, setOf(PRE), setOf(ACT), "nRP", EachPair},
	{LevelBank, setOf(RD), setOf(PRE), "nRTP", EachPair},
	{LevelBank, setOf(WR), setOf(PRE), "nCWL + nBL + nWR", EachPair},
	{LevelBank, setOf(RDA), setOf(ACT), "nRTP + nRP", EachPair},
	{LevelBank, setOf(WRA), setOf(ACT), "nCWL + nBL + nWR + nRP", EachPair},
}

// gddr6Rules: JESD250 as implemented by Ramulator 2.1: one rank, and its rules at the channel. PRE → REF is ours:
// Ramulator has none.
var gddr6Rules = []Rule{
	{LevelChannel, anyRD, anyRD, "nBL", EachPair},
	{LevelChannel, anyWR, anyWR, "nBL", EachPair},
	{LevelChannel, anyRD, anyRD, "nCCDS", EachPair},
	{LevelChannel, anyWR, anyWR, "nCCDS", EachPair},
	{LevelChannel, anyRD, anyWR, "nCL + 1", EachPair},
	{LevelChannel, anyWR, anyRD, "nCWL + nBL + nWTRS", EachPair},
	{LevelChannel, setOf(RD), setOf(PREA), "nRTP", EachPair},
	{LevelChannel, setOf(WR), setOf(PREA), "nCWL + nBL + nWR", EachPair},
	{LevelChannel, setOf(ACT), setOf(ACT), "nRRDS", EachPair},
	{LevelChannel, setOf(ACT), setOf(ACT), "nFAW", FourthBack},
	{LevelChannel, setOf(ACT), setOf(PREA), "nRAS", EachPair},
	{LevelChannel, setOf(PREA), setOf(ACT), "nRP", EachPair},
	{LevelChannel, setOf(PRE, PREA), setOf(PRE, PREA), "nPPD", EachPair},
	{LevelChannel, setOf(ACT), setOf(REF), "nRC", EachPair},
	{LevelChannel, setOf(PRE, PREA), setOf(REF), "nRP", EachPair},
	{LevelChannel, setOf(RDA), setOf(REF), "nRTP + nRP", EachPair},
	{LevelChannel, setOf(WRA), setOf(REF), "nCWL + nBL + nWR + nRP", EachPair},
	{LevelChannel, setOf(REF), rowSet | columnSet, "nRFC", EachPair},

	{LevelBankGroup, anyRD, anyRD, "nCCDL", EachPair},
	{LevelBankGroup, anyWR, anyWR, "nCCDL", EachPair},
	{LevelBankGroup, anyWR, anyRD, "nCWL + nBL + nWTRL", EachPair},
	{LevelBankGroup, setOf(ACT), setOf(ACT), "nRRDL", EachPair},

	{LevelBank, setOf(ACT), setOf(ACT), "nRC", EachPair},
	{LevelBank, setOf(ACT), anyRD, "nRCDRD", EachPair},
	{LevelBank, setOf(ACT), anyWR, "nRCDWR", EachPair},
	{LevelBank, setOf(ACT), setOf(PRE), "nRAS", EachPair},
	{LevelBank, setOf(PRE), setOf(ACT), "nRP", EachPair},
	{LevelBank, setOf(RD), setOf(PRE), "nRTP", EachPair},
	{LevelBank, setOf(WR), setOf(PRE), "nCWL + nBL + nWR", EachPair},
	{LevelBank, setOf(RDA), setOf(ACT), "nRTP + nRP", EachPair},
	{LevelBank, setOf(WRA), setOf(ACT), "nCWL + nBL + nWR + nRP", EachPair},
}

// gddr5Rules: GDDR6's with the read-to-write turnaround of Ramulator 1 for GDDR5. Not checked against a datasheet or a
// simulator.
var gddr5Rules = replaced(gddr6Rules,
	Rule{LevelChannel, anyRD, anyWR, "nCL + nCCDS + 2 - nCWL", EachPair},
)

var standardRules = [][]Rule{
	HBM2:    hbm2Rules,
	HBM2R20: hbm2R20Rules,
	HBM3:    hbm2Rules, // JESD238 has those of JESD235 for the commands modelled here
	DDR4:    ddr4Rules,
	GDDR6:   gddr6Rules,
	GDDR5:   gddr5Rules,
	Ideal:   nil,
}

// replaced returns base with the clocks of each rule of changes, which must be in base; "0" removes a rule.
func replaced(base []Rule, changes ...Rule) []Rule {
	out := slices.Clone(base)
	for _, ch := range changes {
		i := slices.IndexFunc(out, func(r Rule) bool {
			r.Clocks = ch.Clocks
			return r == ch
		})
		if i < 0 {
			panic("BUG: dram: a variant changes a rule that its base has not: " + ch.Clocks)
		}
		out[i] = ch
	}
	return out
}
