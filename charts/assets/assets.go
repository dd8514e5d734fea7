// Package assets holds the scripts that draw Kafka Lab's charts in a browser, and the one build of
// ECharts that the browser and the static pictures share.
//
// ECharts (echarts.js) is built by build/build.mjs from pinned sources; SHA256SUMS says what was built,
// licenses/ holds the licences of everything in it, and a test compares the two.
package assets

import "embed"

//go:embed echarts.js
var echarts string

//go:embed licenses/*.txt
var licenses embed.FS

// ECharts returns the bundle of Apache ECharts as one classic script. It sets the global
// kafkalabECharts = {init, getInstanceByDom, setPlatformAPI, clipRectByRect, version} and nothing else.
// It holds lines, bars, scatters, custom series, heat maps and graphs, with grid, tooltip, legend, title,
// markLine, markArea, dataset, inside zoom, visualMap and aria, and the SVG renderer alone (no canvas).
//
// A browser takes it by <script> or by import(). In goja it needs setTimeout and clearTimeout as empty
// functions; init(null, null, {renderer: "svg", ssr: true, width, height}) and renderToSVGString() draw.
func ECharts() string { return echarts }
