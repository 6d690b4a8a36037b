// Package all registers every graph unit: a line for each component. (The order of the lines has no effect.)
package all

import (
	_ "heddle/components/eghw"
	_ "heddle/components/graphpeg"
	_ "heddle/components/hwwl"
	_ "heddle/components/weaver"
)
