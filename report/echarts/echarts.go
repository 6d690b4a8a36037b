// Package echarts embeds Apache ECharts, with which pages draw their charts: those of reports, and the monitor's. It is
// echarts.min.js of version 5.6.0 as published on npm, under the Apache License 2.0 (echarts.LICENSE, echarts.NOTICE).
package echarts

import _ "embed"

// Script is the library, as JavaScript that defines the global echarts.
//
//go:embed echarts.min.js
var Script string
