// Package assets holds the scripts that draw Kafka Lab's charts in a browser, and the two builds of
// ECharts that the browser and the static pictures share: a small one for our curves, a full one for what
// a learner draws.
//
// ECharts (echarts.js, echarts-full.js) is built by build/build.mjs from pinned sources; SHA256SUMS says what was built,
// licenses/ holds the licences of everything in it, and a test compares the two.
package assets

import "embed"

//go:embed echarts.js
var echarts string

//go:embed echarts-full.js
var echartsFull string

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

// EChartsFull returns the bundle that has every series and part of ECharts but maps and the canvas renderer, and
// beside the functions of ECharts() the helpers that a learner's functions may call: graphic, format, number, time and util. It sets
// the global kafkalabEChartsFull and nothing else.
func EChartsFull() string { return echartsFull }
