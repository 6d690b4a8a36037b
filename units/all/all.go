// Package all has every graph unit registered: a line each. (The order of the lines means nothing.)
package all

import (
	_ "heddle/components/eghw/unit"
	_ "heddle/components/graphpeg/unit"
	_ "heddle/components/hwwl/unit"
	_ "heddle/components/weaver/unit"
)
