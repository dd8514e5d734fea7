package jupyter

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// minPython is the oldest Python that the pinned packages run on.
var minPython = Version{3, 9, 0}

// python is an interpreter with what a virtual environment needs.
type python struct {
	argv    []string
	version Version
}

// interpreters are the names to try, the usual ones first; `py -3` is Windows' launcher.
func interpreters() [][]string {
	if runtime.GOOS == "windows" {
		return [][]string{{"py", "-3"}, {"python3"}, {"python"}}
	}
	names := [][]string{{"python3"}, {"python"}, {"/usr/bin/python3"}}
	for minor := 14; minor >= minPython[1]; minor-- {
		names = append(names, []string{fmt.Sprintf("python3.%d", minor)})
	}
	return names
}

// probe prints the version, then the module that is missing for making an environment, if any.
const probe = `import sys
print("%d.%d.%d" % sys.version_info[:3])
try:
    import venv, ensurepip
except ImportError as e:
    print(e.name)
`

// findPython picks the first interpreter that can make an environment. When none can, the error says
// what the nearest one lacks.
func findPython(ctx context.Context) (python, error) {
	var nearest error
	for _, argv := range interpreters() {
		path, err := exec.LookPath(argv[0])
		if err != nil {
			continue
		}
		p, err := examine(ctx, append([]string{path}, argv[1:]...))
		if err == nil {
			return p, nil
		}
		if nearest == nil {
			nearest = err
		}
	}
	if nearest == nil {
		nearest = errors.New("no Python was found on the PATH")
	}
	return python{}, fmt.Errorf("%w.\nJupyterLab needs Python %d.%d or newer with its venv and pip modules: %s",
		nearest, minPython[0], minPython[1], howToGetPython())
}

func examine(ctx context.Context, argv []string) (python, error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], append(argv[1:], "-c", probe)...)
	cmd.Env = cleanEnv()
	out, err := cmd.Output()
	lines := strings.Fields(string(out))
	if err != nil || len(lines) == 0 {
		return python{}, fmt.Errorf("%s does not run", argv[0])
	}
	v, _ := ParseVersion(lines[0])
	if v.Less(minPython) {
		return python{}, fmt.Errorf("%s is Python %s, which is too old", argv[0], v)
	}
	if len(lines) > 1 {
		return python{}, fmt.Errorf("Python %s at %s lacks the module %s", v, argv[0], lines[1])
	}
	return python{argv, v}, nil
}

func howToGetPython() string {
	switch runtime.GOOS {
	case "darwin":
		return "`brew install python`, or the installer from python.org."
	case "windows":
		return "`winget install Python.Python.3.13`, or the installer from python.org."
	}
	return "on Debian and Ubuntu `sudo apt install python3-venv`, on Fedora `sudo dnf install python3`."
}
