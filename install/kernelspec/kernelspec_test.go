package kernelspec

import (
	"encoding/json"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func machine(goos string, env map[string]string) system {
	return system{goos, func(k string) string { return env[k] }, func() (string, error) { return "/home/ada", nil }}
}

// Expectations as jupyter_core 5.9 paths.py computes them.
func TestUserDirsFollowJupyter(t *testing.T) {
	for _, c := range []struct {
		goos string
		env  map[string]string
		want string
	}{
		{"linux", nil, "/home/ada/.local/share/jupyter"},
		{"linux", map[string]string{"XDG_DATA_HOME": "/data"}, "/data/jupyter"},
		{"linux", map[string]string{"JUPYTER_DATA_DIR": "/j d"}, "/j d"},
		{"linux", map[string]string{"JUPYTER_PLATFORM_DIRS": "1"}, "/home/ada/.local/share/jupyter"},
		{"darwin", nil, "/home/ada/Library/Jupyter"},
		{"darwin", map[string]string{"JUPYTER_PLATFORM_DIRS": "true"}, "/home/ada/Library/Application Support/Jupyter"},
		{"darwin", map[string]string{"JUPYTER_PLATFORM_DIRS": "0"}, "/home/ada/Library/Jupyter"},
		{"windows", map[string]string{"APPDATA": "/appdata"}, "/appdata/jupyter"},
		{"windows", nil, "/home/ada/.jupyter/data"},
		{"windows", map[string]string{"JUPYTER_PLATFORM_DIRS": "yes", "LOCALAPPDATA": "/local"}, "/local/Jupyter"},
	} {
		got, err := machine(c.goos, c.env).user()
		if err != nil || filepath.ToSlash(string(got)) != c.want {
			t.Errorf("%s %v: %q (%v), want %q", c.goos, c.env, got, err, c.want)
		}
	}
}

func TestSearchPathOrder(t *testing.T) {
	env := map[string]string{"JUPYTER_PATH": "/a" + string(filepath.ListSeparator) + "/b/"}
	got := machine("linux", env).searchPath([]string{"/venv", "/usr"})
	want := []Dir{"/a", "/b", "/home/ada/.local/share/jupyter", "/venv/share/jupyter", "/usr/share/jupyter", "/usr/local/share/jupyter"}
	if !slices.Equal(got, want) {
		t.Errorf("searchPath: %q, want %q", got, want)
	}
}

func spec(t *testing.T, binary string) Spec {
	t.Helper()
	s, err := New(binary, DefaultDisplayName)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestInstallListUninstall(t *testing.T) {
	dir := Dir(filepath.Join(t.TempDir(), "with spaces & <signs>"))
	binary := filepath.Join(t.TempDir(), "bin dir", "kafka<lab>")
	folder, err := Install(dir, "kafkalab", spec(t, binary))
	if err != nil {
		t.Fatal(err)
	}
	text, _ := os.ReadFile(filepath.Join(folder, "kernel.json"))
	if !strings.Contains(string(text), "kafka<lab>") {
		t.Errorf("the path is escaped in kernel.json:\n%s", text)
	}
	var fields map[string]any
	if err := json.Unmarshal(text, &fields); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]any{"display_name": "Go (Kafka Lab)", "language": "go", "interrupt_mode": "message"} {
		if fields[key] != want {
			t.Errorf("kernel.json %s = %v, want %v", key, fields[key], want)
		}
	}
	for name, size := range map[string]int{"logo-16x16.png": 16, "logo-32x32.png": 32, "logo-64x64.png": 64} {
		f, err := os.Open(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		img, err := png.Decode(f)
		f.Close()
		if err != nil || img.Bounds().Dx() != size || img.Bounds().Dy() != size {
			t.Errorf("%s: %v, bounds %v", name, err, img.Bounds())
		}
	}
	if found := List([]Dir{dir}); len(found) != 1 || found[0].Spec.Binary() != binary {
		t.Errorf("List: %+v", found)
	}
	if _, err := Uninstall(dir, "kafkalab"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(folder); !os.IsNotExist(err) {
		t.Errorf("the folder is still there: %v", err)
	}
	if _, err := Uninstall(dir, "kafkalab"); err == nil || !strings.Contains(err.Error(), "no kernel") {
		t.Errorf("uninstalling twice: %v", err)
	}
}

func TestReinstallReplacesOursAndLeavesOthers(t *testing.T) {
	dir := Dir(t.TempDir())
	for _, binary := range []string{"/old/kafkalab", "/new/kafkalab"} {
		if _, err := Install(dir, "lab", spec(t, binary)); err != nil {
			t.Fatal(err)
		}
	}
	if s, _ := Read(dir.Kernel("lab")); s.Binary() != "/new/kafkalab" {
		t.Errorf("after reinstalling the kernel is %q", s.Binary())
	}
	os.MkdirAll(dir.Kernel("python3"), 0o755)
	other := `{"argv": ["python"], "display_name": "Python 3", "language": "python"}`
	os.WriteFile(filepath.Join(dir.Kernel("python3"), "kernel.json"), []byte(other), 0o644)
	if _, err := Install(dir, "python3", spec(t, "/new/kafkalab")); err == nil || !strings.Contains(err.Error(), "Python 3") {
		t.Errorf("installing over another kernel: %v", err)
	}
	if _, err := Uninstall(dir, "python3"); err == nil {
		t.Error("another kernel was uninstalled")
	}
	if text, _ := os.ReadFile(filepath.Join(dir.Kernel("python3"), "kernel.json")); string(text) != other {
		t.Errorf("another kernel's file was changed: %s", text)
	}
}

func TestBadNamesAndPathsAreRefused(t *testing.T) {
	if _, err := Install(Dir(t.TempDir()), "../evil", spec(t, "/k")); err == nil {
		t.Error("a name with a path in it was accepted")
	}
	if _, err := New("kafkalab", "Go"); err == nil {
		t.Error("a relative program was accepted")
	}
}
