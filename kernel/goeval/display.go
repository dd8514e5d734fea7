package goeval

import (
	"fmt"
	"reflect"
	"strings"

	"kafkalab/kernel"
	"kafkalab/kernel/goeval/internal/exec"
)

// What a value can do decides how it is shown; neither side imports the other.
type (
	mimeBundler  = interface{ MIMEBundle() map[string]any }
	mimeMetadata = interface{ MIMEMetadata() map[string]any }
	htmler       = interface{ HTML() string }
	svger        = interface{ SVG() string }
)

// show makes the bundle of a cell's result: nil if there is nothing to show.
func (e *Engine) show(run *exec.Run, values []reflect.Value) *kernel.Bundle {
	switch len(values) {
	case 0:
		return nil
	case 1:
		b := e.bundle(run, values[0].Interface())
		return &b
	}
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = e.text(run, v.Interface())
	}
	b := plain(strings.Join(texts, " "))
	return &b
}

func plain(text string) kernel.Bundle {
	return kernel.Bundle{Data: map[string]any{"text/plain": text}, Metadata: map[string]any{}}
}

// bundle makes the MIME bundle of a value. text/plain is always there.
func (e *Engine) bundle(run *exec.Run, v any) kernel.Bundle {
	var b kernel.Bundle
	done := e.guarded(run, func() { b = bundleOf(v) })
	if !done {
		b = plain(notShown(v))
	}
	if b.Data["text/plain"] == nil {
		b.Data["text/plain"] = e.text(run, v)
	}
	return b
}

func bundleOf(v any) kernel.Bundle {
	b := kernel.Bundle{Data: map[string]any{}, Metadata: map[string]any{}}
	switch v := v.(type) {
	case mimeBundler:
		for k, x := range v.MIMEBundle() {
			b.Data[k] = x
		}
		if m, ok := v.(mimeMetadata); ok {
			for k, x := range m.MIMEMetadata() {
				b.Metadata[k] = x
			}
		}
	case htmler:
		b.Data["text/html"] = v.HTML()
	case svger:
		b.Data["image/svg+xml"] = v.SVG()
	}
	return b
}

// text is how fmt prints a value.
func (e *Engine) text(run *exec.Run, v any) (s string) {
	if !e.guarded(run, func() { s = fmt.Sprintf("%v", v) }) {
		return notShown(v)
	}
	return s
}

func notShown(v any) string { return fmt.Sprintf("(%T: showing it failed)", v) }

// guarded runs code that may call methods of cells, which may panic, block or never end.
func (e *Engine) guarded(run *exec.Run, f func()) (ok bool) {
	done := make(chan bool, 1)
	go func() {
		fine := false
		defer func() {
			recover()
			done <- fine
		}()
		f()
		fine = true
	}()
	select {
	case ok = <-done:
		return ok
	case <-run.Stopped():
		return false
	}
}
