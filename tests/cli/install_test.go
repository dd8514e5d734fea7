package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func (p *person) userData() string {
	switch runtime.GOOS {
	case "darwin":
		return filepath.Join(p.home, "Library", "Jupyter")
	case "windows":
		return filepath.Join(p.home, "jupyter")
	}
	return filepath.Join(p.home, ".local", "share", "jupyter")
}

func kernelJSON(t *testing.T, folder string) (argv []string, displayName string) {
	t.Helper()
	var spec struct {
		Argv        []string `json:"argv"`
		DisplayName string   `json:"display_name"`
	}
	text, err := os.ReadFile(filepath.Join(folder, "kernel.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &spec); err != nil {
		t.Fatal(err)
	}
	return spec.Argv, spec.DisplayName
}

func TestInstallForTheUserAndUninstall(t *testing.T) {
	p := newPerson(t)
	p.types("install").exits(0).prints("Go (Kafka Lab)", p.userData())
	kernel := filepath.Join(p.userData(), "kernels", "kafkalab")
	argv, name := kernelJSON(t, kernel)
	if name != "Go (Kafka Lab)" || argv[0] != binary || !filepath.IsAbs(argv[0]) {
		t.Errorf("display name %q, argv %q", name, argv)
	}
	for _, file := range []string{"logo-16x16.png", "logo-32x32.png", "logo-64x64.png", "logo-svg.svg"} {
		if !exists(filepath.Join(kernel, file)) {
			t.Errorf("%s is missing", file)
		}
	}
	extension := filepath.Join(p.userData(), "labextensions", "kafkalab-charts", "package.json")
	if !exists(extension) {
		t.Errorf("%s is missing", extension)
	}
	p.types("uninstall").exits(0).prints(kernel)
	if exists(kernel) || exists(filepath.Dir(extension)) {
		t.Error("something is left after uninstall")
	}
	if !exists(binary) {
		t.Fatal("uninstall removed a program that is the person's own")
	}
	p.types("uninstall").exits(1).complains(`no kernel "kafkalab"`)
}

func TestInstallUnderAPrefixWithSpaces(t *testing.T) {
	p := newPerson(t)
	prefix := filepath.Join(p.dir, "my env & more")
	kernels := filepath.Join(prefix, "share", "jupyter", "kernels")
	p.types("install", "--prefix", prefix, "--name", "go-lab", "--display-name", "Go <1>").exits(0)
	if _, name := kernelJSON(t, filepath.Join(kernels, "go-lab")); name != "Go <1>" {
		t.Errorf("display name %q", name)
	}
	p.types("install", "--prefix", "my env & more").exits(0) // relative to where one is
	argv, _ := kernelJSON(t, filepath.Join(kernels, "kafkalab"))
	if !filepath.IsAbs(argv[0]) {
		t.Errorf("argv %q", argv)
	}
	p.types("install", "--prefix", prefix, "--allow-shell").exits(0)
	if argv, _ := kernelJSON(t, filepath.Join(kernels, "kafkalab")); len(argv) != 4 || argv[2] != "--allow-shell" {
		t.Errorf("argv with --allow-shell: %q", argv)
	}
	if exists(p.userData()) {
		t.Error("--prefix wrote into the home folder")
	}
	extension := filepath.Join(prefix, "share", "jupyter", "labextensions", "kafkalab-charts")
	p.types("uninstall", "--prefix", prefix).exits(0)
	if !exists(extension) {
		t.Error("the extension went while another kernel still needs it")
	}
	p.types("uninstall", "--prefix", prefix, "--name", "go-lab").exits(0)
	if exists(extension) {
		t.Error("the extension stays after the last kernel")
	}
}

func TestInstallWithEnvironmentVariables(t *testing.T) {
	p := newPerson(t)
	p.types("install", "--env", "A=1", "--env", "B=x = y", "--env", "A=2").exits(0)
	text := p.reads(filepath.Join(p.userData(), "kernels", "kafkalab", "kernel.json"))
	var spec struct{ Env map[string]string }
	if err := json.Unmarshal([]byte(text), &spec); err != nil || len(spec.Env) != 2 || spec.Env["A"] != "2" || spec.Env["B"] != "x = y" {
		t.Errorf("env is %v (%v)", spec.Env, err)
	}
	p.types("install").exits(0)
	if text := p.reads(filepath.Join(p.userData(), "kernels", "kafkalab", "kernel.json")); strings.Contains(text, `"env"`) {
		t.Errorf("the variables of the installation before are still there:\n%s", text)
	}
	p.types("install", "--env", "A").exits(2).complains("NAME=VALUE")
}

func TestInstallIntoTheActiveEnvironment(t *testing.T) {
	p := newPerson(t)
	p.types("install", "--sys-prefix").exits(1).complains("no Python environment is active")
	env := filepath.Join(p.dir, "venv")
	p.env = append(p.env, "VIRTUAL_ENV="+env)
	p.types("install", "--sys-prefix").exits(0)
	if !exists(filepath.Join(env, "share", "jupyter", "kernels", "kafkalab", "kernel.json")) {
		t.Error("the kernel is not in the environment")
	}
}

func TestReinstallOverAnOlderOne(t *testing.T) {
	p := newPerson(t)
	p.types("install").exits(0)
	kernel := filepath.Join(p.userData(), "kernels", "kafkalab")
	extension := filepath.Join(p.userData(), "labextensions", "kafkalab-charts")
	older := strings.Replace(p.reads(filepath.Join(kernel, "kernel.json")), binary, "/gone/kafkalab", 1)
	os.WriteFile(filepath.Join(kernel, "kernel.json"), []byte(older), 0o644)
	stale := filepath.Join(extension, "static", "remoteEntry.old.js")
	os.WriteFile(stale, []byte("old"), 0o644)
	p.types("install").exits(0)
	if argv, _ := kernelJSON(t, kernel); argv[0] != binary {
		t.Errorf("argv %q", argv)
	}
	if exists(stale) {
		t.Error("an older version's file is left in the extension")
	}
}

func TestAnotherKernelOfThatNameIsLeftAlone(t *testing.T) {
	p := newPerson(t)
	folder := filepath.Join(p.userData(), "kernels", "kafkalab")
	os.MkdirAll(folder, 0o755)
	other := `{"argv": ["python3"], "display_name": "Mine", "language": "python"}`
	os.WriteFile(filepath.Join(folder, "kernel.json"), []byte(other), 0o644)
	p.types("install").exits(1).complains("another kernel", "Mine", "--name")
	p.types("uninstall").exits(1).complains("left alone")
	if got := p.reads(filepath.Join(folder, "kernel.json")); got != other {
		t.Errorf("the other kernel's file is now %s", got)
	}
}

func TestAPlaceThatCannotBeWritten(t *testing.T) {
	p := newPerson(t)
	file := p.writes("a file", "")
	p.types("install", "--prefix", file).exits(1).complains("cannot be installed", file)
}
