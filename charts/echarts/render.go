// Package echarts draws with Apache ECharts inside Go: the library and the script that draw in the
// browser run in a JavaScript engine (goja), so that the still picture of a curve is made of the same
// option by the same code as the live one.
package echarts

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/dop251/goja"

	"kafkalab/charts/assets"
	"kafkalab/charts/svg"
)

// drawLimit ends a drawing that does not come to an end by itself.
const drawLimit = 20 * time.Second

// library is the compiled ECharts, shared by all engines. Compiling takes half a second.
var library = sync.OnceValues(func() (*goja.Program, error) {
	return goja.Compile("echarts.js", assets.ECharts(), false)
})

// script is the compiled drawing script of the browser.
var script = sync.OnceValues(func() (*goja.Program, error) {
	return goja.Compile("charts.js", assets.Script()+drawing, false)
})

// drawing is what the static picture needs beside the browser's script.
const drawing = `
function kafkalabDraw(option, width, height) {
	const chart = kafkalabECharts.init(null, null, { renderer: "svg", ssr: true, width, height });
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
	option.tooltip = undefined;
	option.legend.type = "plain"; // a still picture does not scroll
	option.backgroundColor = "#fff";
	return kafkalabDraw(option, width, height);
}
function kafkalabOption(text, width, height) {
	return kafkalabDraw(JSON.parse(text), width, height);
}
`

// engine is one JavaScript world with ECharts in it. It draws one picture at a time.
type engine struct {
	sync.Mutex
	vm            *goja.Runtime
	curve, option goja.Callable
}

// shared is the engine of this process: making one takes 20 ms and 15 MB.
var shared = sync.OnceValues(newEngine)

// Warm compiles ECharts and makes the engine, so that the first curve need not wait for it. It is meant
// for a goroutine of its own.
func Warm() { _, _ = shared() }

func newEngine() (*engine, error) {
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
	_, err := e.vm.RunString(`kafkalabECharts.setPlatformAPI({ measureText: (text, font) => ({ width: kafkalabWidth(text, font || "12px") }) })`)
	return err
}

// Curve draws a curve spec of SCHEMA.md, given as JSON text, as SVG.
func Curve(spec string, width, height int, title string) (string, error) {
	return draw(func(e *engine) goja.Callable { return e.curve }, spec, width, height, title)
}

// Option draws an ECharts option, given as JSON text, as SVG. Functions do not travel in JSON, so the
// option cannot bring code with it.
func Option(option string, width, height int, title string) (string, error) {
	return draw(func(e *engine) goja.Callable { return e.option }, option, width, height, title)
}

func draw(call func(*engine) goja.Callable, text string, width, height int, title string) (string, error) {
	e, err := shared()
	if err != nil {
		return "", err
	}
	e.Lock()
	defer e.Unlock()
	alarm := time.AfterFunc(drawLimit, func() { e.vm.Interrupt("it takes longer than " + drawLimit.String()) })
	v, err := call(e)(goja.Undefined(), e.vm.ToValue(text), e.vm.ToValue(width), e.vm.ToValue(height))
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
