package isa

import (
	"fmt"
	"slices"
)

var machineMode = Extension{
	Name: "Machine mode",
	Doc: "Traps that a program handles itself (RISC-V privileged specification, chapter 3): `ecall`, `ebreak`, what is no instruction, and misaligned addresses. " +
		"There is no other privilege level and there are no interrupts. The warp takes a trap as a whole.",
	Rows: []Row{
		{Name: "mret", Enc: encFixed(0x30200073), Class: ClassBranch, Sem: TrapReturn{}, Doc: "go to mepc; mstatus.MIE = MPIE, MPIE = 1"},
	},
}

// Bits of mstatus that are not constant: interrupts, of which there are none, are enabled, and were before the trap.
const (
	MstatusMIE  = 1 << 3
	MstatusMPIE = 1 << 7
)

// Mstatus has the constant fields of mstatus: the previous mode is machine mode, and the float state dirty.
const Mstatus = 1<<31 | 3<<13 | 3<<11

// misa declares RV32IMAF with non-standard extensions (X): a bit for each letter, from A.
const misa = 1<<30 | 1<<('I'-'A') | 1<<('M'-'A') | 1 | 1<<('F'-'A') | 1<<('X'-'A')

// Exception is a cause of traps, as mcause numbers them.
type Exception uint8

// Exceptions of this machine.
const (
	ExceptionMisalignedFetch Exception = 0
	ExceptionFetchFault      Exception = 1
	ExceptionIllegal         Exception = 2
	ExceptionBreakpoint      Exception = 3
	ExceptionMisalignedLoad  Exception = 4
	ExceptionMisalignedStore Exception = 6
	ExceptionMachineCall     Exception = 11
)

// machineCSRs are those of machine mode.
var machineCSRs = []CSRInfo{
	{Num: CSRMstatus, Name: "mstatus", Writable: true, Scope: PerWarp, Doc: "MIE and MPIE; MPP is always 3 (machine mode), FS 3 (dirty)"},
	{Num: 0x301, Name: "misa", Writable: true, Scope: Device, Fixed: true, Value: misa, Doc: "RV32IMAFX; writes change nothing"},
	{Num: CSRMtvec, Name: "mtvec", Writable: true, Scope: PerCore, Doc: "where traps go, a multiple of 4; 0: a trap ends the run"},
	{Num: CSRMepc, Name: "mepc", Writable: true, Scope: PerWarp, Doc: "the instruction that took the warp's last trap"},
	{Num: CSRMcause, Name: "mcause", Writable: true, Scope: PerWarp, Doc: "why: 0 misaligned jump, 1 nothing loaded there, 2 illegal instruction, 3 ebreak, 4 and 6 misaligned load and store or atomic, 11 ecall"},
	{Num: CSRMtval, Name: "mtval", Writable: true, Scope: PerWarp, Doc: "the address or the instruction that was wrong; of lanes, the lowest that was"},
	empty(0x304, "mie"), empty(0x344, "mip"), empty(0x302, "medeleg"), empty(0x303, "mideleg"), empty(0x180, "satp"),
	empty(0x3A0, "pmpcfg0"), empty(0x3B0, "pmpaddr0"), empty(0x744, "mnstatus"),
	{Num: 0xB01, Name: "vx_mpm_reserved", Scope: Device, Fixed: true, Doc: "0"},
	{Num: 0xB81, Name: "vx_mpm_reservedh", Scope: Device, Fixed: true, Doc: "0"},
	{Num: 0xF11, Name: "mvendorid", Scope: Device, Fixed: true, Doc: "0"},
	{Num: 0xF12, Name: "marchid", Scope: Device, Fixed: true, Doc: "0"},
	{Num: 0xF13, Name: "mimpid", Scope: Device, Fixed: true, Doc: "0"},
	{Num: CSRCycle, Name: "cycle", Scope: PerCore, Doc: "as mcycle"},
	{Num: CSRInstret, Name: "instret", Scope: PerCore, Doc: "as minstret"},
	{Num: CSRCycleh, Name: "cycleh", Scope: PerCore, Doc: "as mcycleh"},
	{Num: CSRInstreth, Name: "instreth", Scope: PerCore, Doc: "as minstreth"},
}

// empty returns a CSR that programs set up although the machine lacks its function: it reads 0.
func empty(num uint16, name string) CSRInfo {
	return CSRInfo{Num: num, Name: name, Writable: true, Scope: Device, Fixed: true, Doc: "0; writes change nothing"}
}

// Performance counters: their lower and upper halves.
const (
	CSRCounters  = 0xB03
	CSRCountersh = 0xB83
	NumCounters  = 29
)

// counterCSRs are mhpmcounter3..31 and their upper halves.
func counterCSRs() (all []CSRInfo) {
	for _, half := range []struct {
		num             uint16
		suffix, meaning string
	}{{CSRCounters, "", "performance counter"}, {CSRCountersh, "h", "upper half of the performance counter"}} {
		for i := range uint16(NumCounters) {
			all = append(all, CSRInfo{
				Num: half.num + i, Name: fmt.Sprintf("mhpmcounter%d%s", 3+i, half.suffix), Scope: PerCore,
				Doc: half.meaning + " ([which](../guide/programs.md#performance-counters)); 0 on the functional machine",
			})
		}
	}
	return all
}

// sortedCSRs joins tables by number.
func sortedCSRs(tables ...[]CSRInfo) []CSRInfo {
	all := slices.Concat(tables...)
	slices.SortFunc(all, func(a, b CSRInfo) int { return int(a.Num) - int(b.Num) })
	return all
}
