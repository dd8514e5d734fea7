package assets

import (
	"embed"
	"strings"
)

//go:embed js/*.js
var drawing embed.FS

//go:embed lab/lab.js
var labSource string

//go:embed lab/revive.js
var reviveSource string

// Revive returns the script that makes functions of the texts that go-echarts marked as such: revive(option,
// echarts). It is no part of Script.
func Revive() string { return reviveSource }

// Script returns the script that draws charts, as one classic script that sets the global
// kafkalabCharts = {create, readChart, statesOf, curveOption, LIGHT, Refused, addStyle}. js/70-mount.js says how
// it is called. It is the very text that the JupyterLab extension holds.
func Script() string {
	return "\"use strict\";\nvar kafkalabCharts = (() => {\n" + drawingSource() +
		"return { create, readChart, statesOf, curveOption, LIGHT, Refused, addStyle };\n})();\n"
}

// drawingSource joins js/ in the order of the file names; they are parts of one function's body.
func drawingSource() string {
	files, err := drawing.ReadDir("js")
	if err != nil {
		panic(err) // it is embedded
	}
	var b strings.Builder
	for _, f := range files {
		source, err := drawing.ReadFile("js/" + f.Name())
		if err != nil {
			panic(err)
		}
		b.Write(source)
		b.WriteByte('\n')
	}
	return b.String()
}
