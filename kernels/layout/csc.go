package layout

import "heddle/kernels/direction"

// csc lists the edges of each destination.
var csc = &Layout{
	Name: "csc",
	Doc:  "rows by destination: offsets, sources",
	Rows: func(direction.Direction) End { return Destination },
	View: Compressed,
}
