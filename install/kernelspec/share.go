package kernelspec

import (
	"path/filepath"
)

// Share is the folder of our own files of this person: a copy of the program, the history of the cells.
func Share() (string, error) { return here().share() }

func (s system) share() (string, error) {
	xdg := s.goos == "linux" || s.goos == "freebsd"
	if d := s.env("XDG_DATA_HOME"); d != "" && xdg {
		return filepath.Join(d, "kafkalab"), nil
	}
	home, err := s.home()
	if err != nil {
		return "", noHome(err, "or use --prefix")
	}
	switch s.goos {
	case "darwin":
		return filepath.Join(home, "Library", "Application Support", "kafkalab"), nil
	case "windows":
		if local := s.env("LOCALAPPDATA"); local != "" {
			return filepath.Join(local, "kafkalab"), nil
		}
		return filepath.Join(home, "AppData", "Local", "kafkalab"), nil
	}
	return filepath.Join(home, ".local", "share", "kafkalab"), nil
}

// Runtime is the folder of the connection files of this person's kernels, as jupyter_core's
// jupyter_runtime_dir finds it.
func Runtime() (string, error) { return here().runtime() }

func (s system) runtime() (string, error) {
	if d := s.env("JUPYTER_RUNTIME_DIR"); d != "" {
		return d, nil
	}
	user, err := s.user()
	if err != nil {
		return "", err
	}
	return filepath.Join(string(user), "runtime"), nil
}
