package workload

import "heddle/configs/schema"

// HostProgram describes the host side of a user's program: its inputs, launches and checks.
type HostProgram struct {
	Graph          []GraphPart `key:"graph" default:"csr" oneof:"csr,csc,coo,weights,degrees"`
	Parameters     []string    `key:"parameters" default:""`
	Arrays         []string    `key:"arrays" default:""`
	Defines        []string    `key:"defines" default:""`
	Init           []string    `key:"init" default:""`
	Steps          []string    `key:"steps" default:""`
	Until          string      `key:"until" default:""`
	Result         string      `key:"result" default:"" doc:"The array of arrays that is checked."`
	Check          string      `key:"check" default:""`
	CheckFile      string      `key:"check_file" default:""`
	CheckKernel    string      `key:"check_kernel" default:""`
	CheckTolerance float64     `key:"check_tolerance" default:"0" min:"0" max:"1" unit:""`
	SHA256         string      `key:"sha256" default:""`
}

// Docs describes the keys.
func (HostProgram) Docs() map[string]string {
	return map[string]string{
		"graph": "Arrays of the graph that the program receives. csr: rows by source, vertices + " +
			"1 offsets and one id for each edge. csc: by destination. coo: both ends of every edge, " +
			"by source. weights: one word for each edge, in the order of each of the others. " +
			"degrees: out-degree and in-degree, a word for each vertex.",
		"parameters": "Numbers that the program receives: [TYPE] NAME = VALUE, where TYPE is " +
			"u32, i32 or f32. Without TYPE, a value with a point or an exponent is f32, a negative " +
			"one i32, any other u32.",
		"arrays": "Arrays that the host allocates: [TYPE] NAME[WORDS] = VALUE. WORDS is a sum of " +
			"products of numbers, vertices and edges, such as vertices*16 + 1; VALUE, for each word, " +
			"is 0 if left out.",
		"defines": "NAME=VALUE: macros of a C program, symbols of assembly. An ELF file has " +
			"none, as it is compiled already.",
		"init": "Kernels that are launched before the first super-step, in order: functions of a " +
			"C program, symbols of others. The argument block has a kernel's address in the word " +
			"kernel; every launch enters the program at its entry point.",
		"steps": "Kernels of a super-step, in order. Without any there is a single launch, in " +
			"which the program does everything itself.",
		"until": "The name of one of arrays. Its first word is set to 0 before each super-step, " +
			"and the super-step that leaves it 0 is the last. Without it there are " +
			"workload.max_iterations super-steps, or one if that is 0.",
		"check": "Reference to compare the result with: that of a workload.algorithm, or " +
			"triangles, the number of triangles of which each vertex is the least. source, seed, " +
			"damping, width and target of workload.algorithm apply to it as they do to the " +
			"algorithm.",
		"check_file": "A text file with the expected result: a number for each word, in lines. " +
			"Relative to the working directory.",
		"check_kernel": "A kernel of the program that checks the result: it ends normally if the " +
			"result is right, and with a trap (hd_wrong() in C, ebreak) or an exit code other than 0 " +
			"if not. It is executed functionally after the last super-step, and not counted.",
		"check_tolerance": "Largest relative difference of an f32 from its number in check_file. " +
			"0: equal bits, except for the sign of 0.",
		"sha256": "Hash of the loaded program: entry point, segments and kernels' addresses; for " +
			"a GraphIt program, of its text and of schedule_file. It is filled in for every point, " +
			"so that results of different versions are not mixed. If given, any other program is " +
			"refused.",
	}
}

// GraphPart names arrays of the graph.
type GraphPart string

// Arrays of the graph that a program can request.
const (
	PartCSR     GraphPart = "csr"
	PartCSC     GraphPart = "csc"
	PartCOO     GraphPart = "coo"
	PartWeights GraphPart = "weights"
	PartDegrees GraphPart = "degrees"
)

// Validate returns an error if more than one check is given.
func (h HostProgram) Validate() error {
	ways := 0
	for _, s := range []string{h.Check, h.CheckFile, h.CheckKernel} {
		if s != "" {
			ways++
		}
	}
	if ways > 1 {
		return &schema.FieldError{Key: "check", Msg: "beside check_file or check_kernel: expected one way to check"}
	}
	if h.Result == "" && (h.Check != "" || h.CheckFile != "") {
		return &schema.FieldError{Key: "result", Msg: "expected the name of the array that is checked"}
	}
	return nil
}
