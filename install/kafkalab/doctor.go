package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"kafkalab/charts/assets"
	"kafkalab/install/jupyter"
	"kafkalab/install/kernelspec"
	"kafkalab/install/probe"
)

func newDoctor() *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Check the installation and say how to mend it",
		Long: `Check what the kernel, its charts and JupyterLab need, one line each, with the remedy where something is
missing. The exit code is 1 when something does not work.`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := context.WithTimeout(cmd.Context(), 2*time.Minute)
			defer cancel()
			if n := examine(ctx, cmd.OutOrStdout()); n > 0 {
				return &exitError{code: exitFailure}
			}
			return nil
		},
	}
}

// doctor prints findings and counts what does not work.
type doctor struct {
	out    io.Writer
	broken int
}

func (d *doctor) fine(format string, args ...any) { d.line("ok  ", "", format, args) }

// note is something that works differently from what one might expect, or is not there yet but comes by
// itself.
func (d *doctor) note(remedy, format string, args ...any) { d.line("note", remedy, format, args) }

func (d *doctor) bad(remedy, format string, args ...any) {
	d.broken++
	d.line("BAD ", remedy, format, args)
}

func (d *doctor) line(mark, remedy, format string, args []any) {
	text := fmt.Sprintf(format, args...)
	if remedy != "" {
		text += " - " + remedy
	}
	fmt.Fprintf(d.out, "%s  %s\n", mark, strings.ReplaceAll(text, "\n", " "))
}

// examine checks everything and returns how much of it does not work.
func examine(ctx context.Context, out io.Writer) int {
	d := &doctor{out: out}
	d.fine("kafkalab %s, %s, %s/%s", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	lab := d.jupyter(ctx)
	var prefixes []string
	if prefix, err := kernelspec.SysPrefix(); err == nil {
		prefixes = append(prefixes, prefix)
	}
	if lab != nil {
		prefixes = append(prefixes, lab.Prefix())
	}
	dirs := kernelspec.SearchPath(prefixes...)
	argv := d.kernels(ctx, dirs)
	d.extension(dirs)
	d.kernel(ctx, argv)
	d.browser()
	return d.broken
}

func (d *doctor) jupyter(ctx context.Context) *jupyter.Lab {
	found := jupyter.OnPath(ctx)
	for _, old := range found.Old {
		d.note("kafkalab lab does not use it", "JupyterLab %s at %s is older than %s", old.Version, old.Program, jupyter.MinLab)
	}
	if found.Found != nil {
		d.fine("JupyterLab %s at %s", found.Found.Version, found.Found.Program)
		return found.Found
	}
	if lab, ok := jupyter.Private(ctx); ok {
		d.fine("JupyterLab %s, private, at %s", lab.Version, lab.Program)
		return &lab
	}
	if err := jupyter.CanMake(ctx); err != nil {
		d.bad("", "no JupyterLab %s or newer, and none can be made: %v", jupyter.MinLab, err)
		return nil
	}
	d.note("`kafkalab lab` makes one", "no JupyterLab %s or newer on the PATH", jupyter.MinLab)
	return nil
}

// kernels checks each installed kernel and returns the argv of the one that Jupyter would start.
func (d *doctor) kernels(ctx context.Context, dirs []kernelspec.Dir) []string {
	var argv []string
	for _, k := range kernelspec.List(dirs) {
		v, err := exec.CommandContext(ctx, k.Spec.Binary(), "version").Output()
		if err != nil {
			d.bad("run `kafkalab install` again", "kernel %q in %s cannot run %s: %v", k.Spec.DisplayName, k.Folder, k.Spec.Binary(), err)
			continue
		}
		said := strings.TrimSpace(string(v))
		if !strings.HasPrefix(said, "kafkalab "+version()+",") {
			d.note("run `kafkalab install` to use this one", "kernel %q in %s runs another version, %s", k.Spec.DisplayName, k.Folder, said)
		} else {
			d.fine("kernel %q in %s", k.Spec.DisplayName, k.Folder)
		}
		if argv == nil {
			argv = k.Spec.Argv
		}
	}
	if argv == nil {
		d.bad("run `kafkalab install` or `kafkalab lab`", "no working kernel is installed where Jupyter looks")
	}
	return argv
}

func (d *doctor) extension(dirs []kernelspec.Dir) {
	for _, dir := range dirs {
		there, current, err := assets.LabExtensionState(dir.LabExtensions())
		switch {
		case err != nil:
			d.bad("", "chart extension: %v", err)
			return
		case there && !current:
			d.bad("run `kafkalab install` again", "chart extension in %s is of another version", dir.LabExtensions())
			return
		case there:
			d.fine("chart extension in %s", dir.LabExtensions())
			return
		}
	}
	d.bad("run `kafkalab install`", "the chart extension is not installed: JupyterLab shows still pictures only")
}

// chartCell is a cell whose result is a chart with everything behind it.
const chartCell = `charts.Cluster(kafkasim.Widget())`

// kernel starts the installed kernel, or this program when none is installed, and runs two cells in it.
func (d *doctor) kernel(ctx context.Context, argv []string) {
	if argv == nil {
		self, err := os.Executable()
		if err != nil {
			return
		}
		argv = []string{self, "kernel", "{connection_file}"}
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	k, err := probe.Start(ctx, argv)
	if err != nil {
		d.bad("run it by hand to see more: "+argv[0]+" kernel FILE", "the kernel does not start: %v", err)
		return
	}
	defer k.Stop()
	d.fine("the kernel answers %d ms after its start (protocol %s)", k.Started.Milliseconds(), k.Info.ProtocolVersion)
	d.handshake(ctx, argv)
	begun := time.Now()
	if a, err := k.Execute(ctx, "6 * 7"); err != nil || a.Text != "42" {
		d.bad("file an issue with this line", "a cell with 6 * 7 gives %q (%v)", a.Text, err)
		return
	}
	d.fine("a cell runs, in %d ms", time.Since(begun).Milliseconds())
	begun = time.Now()
	a, err := k.Execute(ctx, chartCell)
	if size, bad := picture(a.Bundle); err != nil || bad != nil {
		d.bad("file an issue with this line", "a chart is not drawn: %v %v", err, bad)
	} else {
		d.fine("a chart is drawn, a PNG of %d KB, in %d ms", size/1024, time.Since(begun).Milliseconds())
	}
}

// handshake starts the kernel the other way: it chooses its ports and registers them.
func (d *doctor) handshake(ctx context.Context, argv []string) {
	k, err := probe.StartRegistered(ctx, argv)
	if err != nil {
		d.bad("file an issue with this line; frontends that name the ports themselves are not concerned", "the start handshake fails: %v", err)
		return
	}
	defer k.Stop()
	d.fine("the start handshake of protocol 5.6 works, in %d ms", k.Started.Milliseconds())
}

// picture checks that a bundle holds a PNG.
func picture(bundle map[string]json.RawMessage) (size int, err error) {
	var text string
	if err := json.Unmarshal(bundle["image/png"], &text); err != nil {
		return 0, fmt.Errorf("its output has no image/png")
	}
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil || !strings.HasPrefix(string(data), "\x89PNG\r\n") {
		return 0, fmt.Errorf("its image/png is no PNG")
	}
	return len(data), nil
}

// browser looks for a way to open a page; without one JupyterLab prints its address.
func (d *doctor) browser() {
	const remedy = "open the address that `kafkalab lab --no-browser` prints, in a browser of 2023 or newer"
	switch {
	case runtime.GOOS != "linux":
		d.fine("a browser is opened by the system")
	case os.Getenv("BROWSER") != "":
		d.fine("the browser is %s (BROWSER)", os.Getenv("BROWSER"))
	case os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "":
		d.note(remedy, "there is no desktop here")
	default:
		if _, err := exec.LookPath("xdg-open"); err != nil {
			d.note(remedy, "xdg-open is missing (package xdg-utils)")
			return
		}
		d.fine("a browser is opened by xdg-open")
	}
}
