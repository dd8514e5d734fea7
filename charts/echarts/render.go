// Package echarts draws with Apache ECharts inside Go: the library and the script that draw in the
// browser run in a JavaScript engine (goja), so that the still picture of a curve is made of the same
// option by the same code as the live one.
package echarts

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/dop251/goja"

	"kafkalab/charts/assets"
	"kafkalab/charts/svg"
)

// drawLimit ends a drawing that does not come to an end by itself.
const drawLimit = 20 * time.Second

// small and full are the compiled builds of ECharts, shared by all engines. Compiling takes half a second: the
// full one waits until a chart needs it.
var (
	small = sync.OnceValues(func() (*goja.Program, error) { return goja.Compile("echarts.js", assets.ECharts(), false) })
	full  = sync.OnceValues(func() (*goja.Program, error) {
		return goja.Compile("echarts-full.js", assets.EChartsFull(), false)
	})
)

// script is the compiled drawing script of the browser.
var script = sync.OnceValues(func() (*goja.Program, error) {
	return goja.Compile("charts.js", assets.Script()+assets.Revive()+drawing, false)
})

// drawing is what the static picture needs beside the browser's script.
const drawing = `
const kafkalabLibrary = globalThis.kafkalabEChartsFull || globalThis.kafkalabECharts;
function kafkalabDraw(option, width, height) {
	const chart = kafkalabLibrary.init(null, null, { renderer: "svg", ssr: true, width, height });
	try {
		chart.setOption(option);
		return chart.renderToSVGString();
	} finally {
		chart.dispose();
	}
}
function kafkalabCurve(spec, width, height) {
	const full = Object.assign({ bands: [], marks: [], refs: [] }, JSON.parse(spec));
	const option = kafkalabCharts.curveOption(full, height, kafkalabCharts.LIGHT);
	option.tooltip = option.axisPointer = undefined;
	option.legend.type = "plain"; // a still picture does not scroll
	option.backgroundColor = "#fff";
	return kafkalabDraw(option, width, height);
}
function kafkalabOption(text, width, height, functions) {
	const option = functions ? revive(JSON.parse(text), kafkalabLibrary) : JSON.parse(text);
	for (const part of ["tooltip", "toolbox", "brush"]) option[part] = undefined; // nothing to point at
	return kafkalabDraw(option, width, height);
}
`

// engine is one JavaScript world with ECharts in it. It draws one picture at a time.
type engine struct {
	sync.Mutex
	vm            *goja.Runtime
	curve, option goja.Callable
}

// shared and fullShared are the engines of this process: making one takes 20 ms and 15 MB.
var (
	shared     = sync.OnceValues(func() (*engine, error) { return newEngine(small) })
	fullShared = sync.OnceValues(func() (*engine, error) { return newEngine(full) })
)

// Warm compiles ECharts and makes the engine, so that the first curve need not wait for it. It is meant
// for a goroutine of its own.
func Warm() { _, _ = shared() }

func newEngine(library func() (*goja.Program, error)) (*engine, error) {
	e := &engine{vm: goja.New()}
	nothing := func(goja.FunctionCall) goja.Value { return goja.Undefined() }
	for _, name := range []string{"setTimeout", "clearTimeout"} {
		if err := e.vm.Set(name, nothing); err != nil {
			return nil, err
		}
	}
	for _, compiled := range []func() (*goja.Program, error){library, script} {
		program, err := compiled()
		if err != nil {
			return nil, fmt.Errorf("echarts: %w", err)
		}
		if _, err := e.vm.RunProgram(program); err != nil {
			return nil, fmt.Errorf("echarts: %w", err)
		}
	}
	if err := e.measure(); err != nil {
		return nil, err
	}
	for name, into := range map[string]*goja.Callable{"kafkalabCurve": &e.curve, "kafkalabOption": &e.option} {
		call, ok := goja.AssertFunction(e.vm.Get(name))
		if !ok {
			return nil, fmt.Errorf("echarts: no function %s", name)
		}
		*into = call
	}
	return e, nil
}

// measure tells ECharts the widths of the font that the PNG is drawn with.
func (e *engine) measure() error {
	if err := e.vm.Set("kafkalabWidth", textWidth); err != nil {
		return err
	}
	_, err := e.vm.RunString(`kafkalabLibrary.setPlatformAPI({ measureText: (text, font) => ({ width: kafkalabWidth(text, font || "12px") }) })`)
	return err
}

// Curve draws a curve spec of SCHEMA.md, given as JSON text, as SVG.
func Curve(spec string, width, height int, title string) (string, error) {
	return draw(shared, func(e *engine) goja.Callable { return e.curve }, spec, width, height, title)
}

// Still draws the picture of a learner's own chart as SVG, as wide as given. Functions that it brings along run here
// in a world of their own, which knows neither files nor the network and ends with the picture.
func Still(b Built, width int, title string) (string, error) {
	made := shared
	switch {
	case len(b.Functions) > 0:
		made = func() (*engine, error) { return newEngine(full) }
	case b.Full:
		made = fullShared
	}
	return draw(made, func(e *engine) goja.Callable { return e.option }, b.Option, width, b.Height, title, len(b.Functions) > 0)
}

func draw(made func() (*engine, error), call func(*engine) goja.Callable, text string, width, height int, title string, rest ...any) (string, error) {
	e, err := made()
	if err != nil {
		return "", err
	}
	e.Lock()
	defer e.Unlock()
	defer letGarbageLie()()
	alarm := time.AfterFunc(drawLimit, func() { e.vm.Interrupt("it takes longer than " + drawLimit.String()) })
	chance := rand.New(rand.NewPCG(1, 2)) // a layout by chance is the same each time
	e.vm.SetRandSource(chance.Float64)
	args := []goja.Value{e.vm.ToValue(text), e.vm.ToValue(width), e.vm.ToValue(height)}
	for _, a := range rest {
		args = append(args, e.vm.ToValue(a))
	}
	v, err := call(e)(goja.Undefined(), args...)
	alarm.Stop()
	e.vm.ClearInterrupt()
	if err != nil {
		var thrown *goja.Exception
		if errors.As(err, &thrown) {
			return "", fmt.Errorf("echarts: %s", thrown.Value().String())
		}
		return "", fmt.Errorf("echarts: %w", err)
	}
	return tidy(v.String(), title), nil
}

// textWidth is the width of a line in a CSS font like "bold 12px sans-serif".
func textWidth(text, font string) float64 {
	size, bold := cssFont(font)
	if text == "国" {
		return size // zrender takes this character's width for the height of a line
	}
	return svg.TextWidth(text, size, bold)
}
