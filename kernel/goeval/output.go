package goeval

import (
	"fmt"
	"log"
	"os"
	"reflect"

	"kafkalab/kernel/goeval/internal/exec"
)

// write sends text to the output of the cell that run belongs to.
func (e *Engine) write(run *exec.Run, stream, text string) {
	if text == "" {
		return
	}
	if o, ok := run.Tag.(*outlet); ok && o.out != nil {
		e.std.order()
		o.stream(stream, text)
	} else if e.opts.Log != nil {
		fmt.Fprint(e.opts.Log, text)
	}
}

// intrinsic replaces functions of compiled packages that must know which cell calls, or must not do
// what they do in a program of their own.
func (e *Engine) intrinsic(pkg, name string) exec.Intrinsic {
	if f := intrinsics[pkg+"."+name]; f != nil {
		return f.bind(e)
	}
	return e.besides(pkg, name)
}

// intrinsicFunc is an intrinsic without its engine.
type intrinsicFunc func(e *Engine, c *exec.Call, args []reflect.Value) []reflect.Value

func (f intrinsicFunc) bind(e *Engine) exec.Intrinsic {
	if f == nil {
		return nil
	}
	return func(c *exec.Call, args []reflect.Value) []reflect.Value { return f(e, c, args) }
}

var intrinsics = map[string]intrinsicFunc{
	"fmt.Print":           printing(func(a []reflect.Value) string { return fmt.Sprint(a[0].Interface().([]any)...) }),
	"fmt.Println":         printing(func(a []reflect.Value) string { return fmt.Sprintln(a[0].Interface().([]any)...) }),
	"fmt.Printf":          printing(func(a []reflect.Value) string { return fmt.Sprintf(a[0].String(), a[1].Interface().([]any)...) }),
	"fmt.Fprint":          toWriter(reflect.ValueOf(fmt.Fprint), func(a []reflect.Value) string { return fmt.Sprint(a[1].Interface().([]any)...) }),
	"fmt.Fprintln":        toWriter(reflect.ValueOf(fmt.Fprintln), func(a []reflect.Value) string { return fmt.Sprintln(a[1].Interface().([]any)...) }),
	"fmt.Fprintf":         toWriter(reflect.ValueOf(fmt.Fprintf), func(a []reflect.Value) string { return fmt.Sprintf(a[1].String(), a[2].Interface().([]any)...) }),
	"os.File.Write":       toWriter(reflect.ValueOf((*os.File).Write), func(a []reflect.Value) string { return string(a[1].Bytes()) }),
	"os.File.WriteString": toWriter(reflect.ValueOf((*os.File).WriteString), func(a []reflect.Value) string { return a[1].String() }),
	"os.Exit": func(e *Engine, c *exec.Call, a []reflect.Value) []reflect.Value {
		c.Exit(int(a[0].Int()), "os.Exit")
		return nil
	},
	"log.Fatal":          fatal("log.Fatal", func(a []reflect.Value) string { return fmt.Sprint(a[0].Interface().([]any)...) }),
	"log.Fatalln":        fatal("log.Fatalln", func(a []reflect.Value) string { return fmt.Sprintln(a[0].Interface().([]any)...) }),
	"log.Fatalf":         fatal("log.Fatalf", func(a []reflect.Value) string { return fmt.Sprintf(a[0].String(), a[1].Interface().([]any)...) }),
	"log.Logger.Fatal":   loggerFatal(func(a []reflect.Value) string { return fmt.Sprint(a[1].Interface().([]any)...) }),
	"log.Logger.Fatalln": loggerFatal(func(a []reflect.Value) string { return fmt.Sprintln(a[1].Interface().([]any)...) }),
	"log.Logger.Fatalf": loggerFatal(func(a []reflect.Value) string {
		return fmt.Sprintf(a[1].String(), a[2].Interface().([]any)...)
	}),
	"maps.clone": func(e *Engine, c *exec.Call, a []reflect.Value) []reflect.Value {
		return []reflect.Value{cloneMap(a[0])}
	},
	"time.Sleep": func(e *Engine, c *exec.Call, a []reflect.Value) []reflect.Value {
		c.Sleep(a[0].Int())
		return nil
	},
}

// printing makes the intrinsic of a function of fmt that prints.
func printing(text func(a []reflect.Value) string) intrinsicFunc {
	return func(e *Engine, c *exec.Call, a []reflect.Value) []reflect.Value {
		s := text(a)
		e.write(c.Run, "stdout", s)
		return []reflect.Value{reflect.ValueOf(len(s)), reflect.Zero(reflect.TypeFor[error]())}
	}
}

// toWriter makes the intrinsic of a function that writes to its first argument. What goes to the cell's
// own files takes the way of what is printed, so that stdout and stderr keep their order among each other.
func toWriter(real reflect.Value, text func(a []reflect.Value) string) intrinsicFunc {
	return func(e *Engine, c *exec.Call, a []reflect.Value) []reflect.Value {
		stream := e.std.streamOf(a[0].Interface())
		switch {
		case stream == "" && real.Type().IsVariadic():
			return real.CallSlice(a)
		case stream == "":
			return real.Call(a)
		}
		s := text(a)
		e.write(c.Run, stream, s)
		return []reflect.Value{reflect.ValueOf(len(s)), reflect.Zero(reflect.TypeFor[error]())}
	}
}

func fatal(what string, text func(a []reflect.Value) string) intrinsicFunc {
	return func(e *Engine, c *exec.Call, a []reflect.Value) []reflect.Value {
		e.std.logger().Print(text(a))
		c.Exit(1, what)
		return nil
	}
}

// loggerFatal is Fatal of a logger that a cell made.
func loggerFatal(text func(a []reflect.Value) string) intrinsicFunc {
	return func(e *Engine, c *exec.Call, a []reflect.Value) []reflect.Value {
		a[0].Interface().(*log.Logger).Print(text(a))
		c.Exit(1, "log.Logger.Fatal")
		return nil
	}
}

// cloneMap copies the map in an interface value, as the run time does for maps.Clone.
func cloneMap(x reflect.Value) reflect.Value {
	m := x.Elem()
	if m.IsNil() {
		return x
	}
	n := reflect.MakeMapWithSize(m.Type(), m.Len())
	for it := m.MapRange(); it.Next(); {
		n.SetMapIndex(it.Key(), it.Value())
	}
	return n
}
