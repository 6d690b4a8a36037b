package layout

// both keeps the graph as CSR and CSC, for runs that change direction.
var both = &Layout{
	Name: "csr-csc",
	Doc:  "csr for push, csc for pull: the graph twice",
	Rows: Base,
	View: Compressed,
}
