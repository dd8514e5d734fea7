package kernelspec

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Dir is one of Jupyter's data directories: kernels live below it in kernels/, frontend extensions in
// labextensions/.
type Dir string

// Kernels is the folder that holds one folder for each kernel.
func (d Dir) Kernels() string { return filepath.Join(string(d), "kernels") }

// Kernel is the folder of one kernel.
func (d Dir) Kernel(name string) string { return filepath.Join(d.Kernels(), name) }

// LabExtensions is the folder that JupyterLab reads prebuilt extensions from.
func (d Dir) LabExtensions() string { return filepath.Join(string(d), "labextensions") }

// system is what the places depend on, so that tests can ask about other machines.
type system struct {
	goos string
	env  func(string) string
	home func() (string, error)
}

func here() system { return system{runtime.GOOS, os.Getenv, os.UserHomeDir} }

// User is the person's own data directory, as jupyter_core's jupyter_data_dir finds it.
func User() (Dir, error) { return here().user() }

// Prefix is the data directory of an environment (a Python prefix such as /usr or a virtual environment).
func Prefix(prefix string) Dir { return Dir(filepath.Join(prefix, "share", "jupyter")) }

// SearchPath lists every data directory that Jupyter looks into, the first wins: $JUPYTER_PATH, the
// person's own, those of the given prefixes, the system's.
func SearchPath(prefixes ...string) []Dir { return here().searchPath(prefixes) }

func (s system) user() (Dir, error) {
	if d := s.env("JUPYTER_DATA_DIR"); d != "" {
		return Dir(d), nil
	}
	home, err := s.home()
	if err != nil {
		return "", noHome(err, "or JUPYTER_DATA_DIR, or use --prefix")
	}
	if on(s.env("JUPYTER_PLATFORM_DIRS")) {
		return s.platformUser(home), nil
	}
	switch s.goos {
	case "darwin":
		return Dir(filepath.Join(home, "Library", "Jupyter")), nil
	case "windows":
		if roaming := s.env("APPDATA"); roaming != "" {
			return Dir(filepath.Join(roaming, "jupyter")), nil
		}
		return Dir(filepath.Join(home, ".jupyter", "data")), nil
	}
	return Dir(filepath.Join(s.xdgData(home), "jupyter")), nil
}

func noHome(err error, instead string) error {
	return fmt.Errorf("no home folder is known (%w): set HOME, %s", err, instead)
}

// platformUser is where Jupyter keeps its data when it follows the platform's habits instead of its own.
func (s system) platformUser(home string) Dir {
	switch s.goos {
	case "darwin":
		return Dir(filepath.Join(home, "Library", "Application Support", "Jupyter"))
	case "windows":
		local := s.env("LOCALAPPDATA")
		if local == "" {
			local = filepath.Join(home, "AppData", "Local")
		}
		return Dir(filepath.Join(local, "Jupyter"))
	}
	return Dir(filepath.Join(s.xdgData(home), "jupyter"))
}

func (s system) xdgData(home string) string {
	if d := s.env("XDG_DATA_HOME"); d != "" {
		return d
	}
	return filepath.Join(home, ".local", "share")
}

func (s system) searchPath(prefixes []string) []Dir {
	var dirs []Dir
	add := func(d Dir) {
		if d != "" && !slices.Contains(dirs, d) {
			dirs = append(dirs, d)
		}
	}
	for _, p := range filepath.SplitList(s.env("JUPYTER_PATH")) {
		add(Dir(strings.TrimRight(p, string(filepath.Separator))))
	}
	if user, err := s.user(); err == nil {
		add(user)
	}
	for _, p := range prefixes {
		if p != "" {
			add(Prefix(p))
		}
	}
	if s.goos == "windows" {
		if data := s.env("PROGRAMDATA"); data != "" && on(s.env("JUPYTER_USE_PROGRAMDATA")) {
			add(Dir(filepath.Join(data, "jupyter")))
		}
		return dirs
	}
	add("/usr/local/share/jupyter")
	add("/usr/share/jupyter")
	return dirs
}

// on reads a switch the way jupyter_core does: anything but "no", "n", "false", "off", "0", "0.0" is on.
func on(value string) bool {
	switch strings.ToLower(value) {
	case "", "no", "n", "false", "off", "0", "0.0":
		return false
	}
	return true
}

// SysPrefix is the prefix of the active Python environment: the virtual environment or the conda
// environment that is switched on.
func SysPrefix() (string, error) {
	for _, name := range []string{"VIRTUAL_ENV", "CONDA_PREFIX"} {
		if p := os.Getenv(name); p != "" {
			return p, nil
		}
	}
	return "", errors.New("--sys-prefix: no Python environment is active (neither VIRTUAL_ENV nor CONDA_PREFIX is set): " +
		"activate one first, or name it with --prefix")
}
