package isa

var zicsr = Extension{
	Name: "Zicsr",
	Doc:  "Control and status registers (RISC-V unprivileged specification, chapter 6).",
	Rows: []Row{
		{Name: "csrrw", Enc: encI(0x73, 1), Format: Format{rd, csr, rs1}, Class: ClassCSR, Sem: CSROp{F: csrSwap, Swap: true}, Doc: "rd = csr; csr = rs1"},
		{Name: "csrrs", Enc: encI(0x73, 2), Format: Format{rd, csr, rs1}, Class: ClassCSR, Sem: CSROp{F: or}, Doc: "rd = csr; csr |= rs1 unless rs1 is x0"},
		{Name: "csrrc", Enc: encI(0x73, 3), Format: Format{rd, csr, rs1}, Class: ClassCSR, Sem: CSROp{F: csrClear}, Doc: "rd = csr; csr &= ~rs1 unless rs1 is x0"},
		{Name: "csrrwi", Enc: encI(0x73, 5), Format: Format{rd, csr, zimm}, Class: ClassCSR, Sem: CSROp{F: csrSwap, Immediate: true, Swap: true}, Doc: "rd = csr; csr = zimm"},
		{Name: "csrrsi", Enc: encI(0x73, 6), Format: Format{rd, csr, zimm}, Class: ClassCSR, Sem: CSROp{F: or, Immediate: true}, Doc: "rd = csr; csr |= zimm unless zimm is 0"},
		{Name: "csrrci", Enc: encI(0x73, 7), Format: Format{rd, csr, zimm}, Class: ClassCSR, Sem: CSROp{F: csrClear, Immediate: true}, Doc: "rd = csr; csr &= ~zimm unless zimm is 0"},
	},
}

var zifencei = Extension{
	Name: "Zifencei",
	Doc:  "Instruction-fetch fence (RISC-V unprivileged specification, chapter 7).",
	Rows: []Row{
		{Name: "fence.i", Enc: encFixed(0x0000100F), Class: ClassFence, Sem: FenceI{}, Doc: "later fetches see earlier stores"},
	},
}

func csrSwap(_, s uint32) uint32  { return s }
func csrClear(o, s uint32) uint32 { return o &^ s }

// Scope is the set of lanes that share one instance of a CSR.
type Scope string

// Scopes of a CSR.
const (
	PerLane Scope = "lane"
	PerWarp Scope = "warp"
	PerCore Scope = "core"
	Device  Scope = "device"
)

// CSRInfo describes one control and status register.
type CSRInfo struct {
	Num      uint16
	Name     string
	Writable bool
	Scope    Scope
	Doc      string
	Fixed    bool   // it always holds Value, whatever is written
	Value    uint32 // if Fixed
}

// CSR numbers.
const (
	CSRFflags         = 0x001
	CSRFrm            = 0x002
	CSRFcsr           = 0x003
	CSRMstatus        = 0x300
	CSRMtvec          = 0x305
	CSRMscratch       = 0x340
	CSRMepc           = 0x341
	CSRMcause         = 0x342
	CSRMtval          = 0x343
	CSRWeaverCapacity = 0x7C0
	CSRUnits          = 0x7C2
	CSRMcycle         = 0xB00
	CSRMinstret       = 0xB02
	CSRMcycleh        = 0xB80
	CSRMinstreth      = 0xB82
	CSRCycle          = 0xC00
	CSRInstret        = 0xC02
	CSRCycleh         = 0xC80
	CSRInstreth       = 0xC82
	CSRTid            = 0xCC0
	CSRWid            = 0xCC1
	CSRCid            = 0xCC2
	CSRActiveWarps    = 0xCC3
	CSRActiveThreads  = 0xCC4
	CSRMhartid        = 0xF14
	CSRNumThreads     = 0xFC0
	CSRNumWarps       = 0xFC1
	CSRNumCores       = 0xFC2
	CSRLocalMemBase   = 0xFC3
)

// Bits of CSRUnits: the Presence of extensions.
const (
	HasWeaver = 1 << iota
	HasPeg
	HasEGHW
	HasHWWL
)

// CSRs lists every CSR of the machine; any other number is an illegal
// instruction. Names and numbers above 0xCC0 are Vortex's.
var CSRs = sortedCSRs(machineCSRs, counterCSRs(), []CSRInfo{
	{Num: CSRFflags, Name: "fflags", Writable: true, Scope: PerWarp, Doc: "accrued float exceptions: NV DZ OF UF NX in bits 4..0, OR over the lanes"},
	{Num: CSRFrm, Name: "frm", Writable: true, Scope: PerWarp, Doc: "rounding mode used by instructions with rm = dyn"},
	{Num: CSRFcsr, Name: "fcsr", Writable: true, Scope: PerWarp, Doc: "frm in bits 7..5, fflags in bits 4..0"},
	{Num: CSRMscratch, Name: "mscratch", Writable: true, Scope: PerCore, Doc: "at start: the address of the kernel's arguments"},
	{Num: CSRWeaverCapacity, Name: "weaver_capacity", Scope: PerCore, Doc: "min(st_entries, warps·threads) of the core's Weaver; 0 without one (ours)"},
	{Num: CSRUnits, Name: "units", Scope: PerCore, Doc: ""},
	{Num: CSRMcycle, Name: "mcycle", Scope: PerCore, Doc: "cycles; on the functional machine, warp instructions the core has executed"},
	{Num: CSRMinstret, Name: "minstret", Scope: PerCore, Doc: "warp instructions the core has executed"},
	{Num: CSRMcycleh, Name: "mcycleh", Scope: PerCore, Doc: "upper half of mcycle"},
	{Num: CSRMinstreth, Name: "minstreth", Scope: PerCore, Doc: "upper half of minstret"},
	{Num: CSRTid, Name: "vx_tid", Scope: PerLane, Doc: "lane number in the warp"},
	{Num: CSRWid, Name: "vx_wid", Scope: PerWarp, Doc: "warp number in the core"},
	{Num: CSRCid, Name: "vx_cid", Scope: PerCore, Doc: "core number in the device"},
	{Num: CSRActiveWarps, Name: "vx_active_warps", Scope: PerCore, Doc: "mask of the core's running warps"},
	{Num: CSRActiveThreads, Name: "vx_active_threads", Scope: PerWarp, Doc: "mask of the warp's active lanes"},
	{Num: CSRMhartid, Name: "mhartid", Scope: PerLane, Doc: "(core·warps + warp)·threads + lane"},
	{Num: CSRNumThreads, Name: "vx_num_threads", Scope: Device, Doc: "lanes of a warp"},
	{Num: CSRNumWarps, Name: "vx_num_warps", Scope: Device, Doc: "warps of a core"},
	{Num: CSRNumCores, Name: "vx_num_cores", Scope: Device, Doc: "cores of the device"},
	{Num: CSRLocalMemBase, Name: "vx_local_mem_base", Scope: Device, Doc: "address of the core's scratchpad"},
})

// CSRName returns the name of a CSR, or its number in hexadecimal.
func CSRName(num uint16) string {
	for i := range CSRs {
		if CSRs[i].Num == num {
			return CSRs[i].Name
		}
	}
	return "0x" + hex(uint32(num))
}
