package workload

import "heddle/configs/schema"

// HostProgram describes the host side of a user's program: its inputs, launches and checks.
type HostProgram struct {
	Graph          []GraphPart `key:"graph" default:"csr" oneof:"csr,csc,coo,weights,degrees" doc:"Arrays of the graph that the program is handed. csr: rows by source, vertices + 1 offsets and one id an edge. csc: by destination. coo: both ends of every edge, by source. weights: one word an edge, in the order of each of the others. degrees: out and in, a word a vertex."`
	Parameters     []string    `key:"parameters" default:"" doc:"Numbers that the program is handed: [TYPE] NAME = VALUE, where TYPE is u32, i32 or f32. Without it a value with a point or an exponent is f32, a negative one i32, any other u32."`
	Arrays         []string    `key:"arrays" default:"" doc:"Arrays that the host makes: [TYPE] NAME[WORDS] = VALUE. WORDS is a sum of products of numbers, vertices and edges, as vertices*16 + 1; VALUE, of each word, is 0 if left out."`
	Defines        []string    `key:"defines" default:"" doc:"NAME=VALUE: macros of a C program, symbols of assembly; whoever builds an ELF file has said so to the compiler."`
	Init           []string    `key:"init" default:"" doc:"Kernels that are launched before the first super-step, in order: functions of a C program, symbols of others. A kernel's address is in the block's word kernel; every launch enters the program at its entry."`
	Steps          []string    `key:"steps" default:"" doc:"Kernels of a super-step, in order. Without any there is one launch, in which the program does all by itself."`
	Until          string      `key:"until" default:"" doc:"An array of arrays. Its first word is set to 0 before each super-step; the one that leaves it 0 is the last. Without it there are workload.max_iterations super-steps, and one if that is 0."`
	Result         string      `key:"result" default:"" doc:"The array of arrays that is checked."`
	Check          string      `key:"check" default:"" doc:"What the result is held up against: the reference of one of workload.algorithm, or triangles, which counts at each vertex those of which it is the least. workload.source and .seed, .damping, .width and .target are its as they are that algorithm's."`
	CheckFile      string      `key:"check_file" default:"" doc:"A text file with what the result is to be: a number a word, in lines. Relative to where heddle runs."`
	CheckKernel    string      `key:"check_kernel" default:"" doc:"A kernel of the program that ends as others do if the result is right, and with a trap (hd_wrong() in C, ebreak) or another exit code than 0 if it is not. It is executed without time behind the last super-step, and counts nowhere."`
	CheckTolerance float64     `key:"check_tolerance" default:"0" min:"0" max:"1" unit:"" doc:"How far from a number of check_file an f32 may be, as a part of it. 0: the same bits, but for the sign of 0."`
	SHA256         string      `key:"sha256" default:"" doc:"Of what is loaded: entry, segments, and the kernels' addresses; of a GraphIt program, its text and schedule_file's. Filled in when a point is laid out, so that results of a program that has changed since are not mixed with others. If given, another program is refused."`
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
