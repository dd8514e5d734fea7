package jupyter

import (
	"bufio"
	"context"
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

//go:embed requirements.txt
var requirements string

// overrides keeps a fresh JupyterLab from asking about news before the learner has seen a lesson, and from
// looking for updates over the network.
const overrides = `{
  "@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": false}
}
`

// readyFile is written last: an environment without it was left half made.
const readyFile = "kafkalab-ready"

// Progress hears how far making the environment is: a fraction from 0 to 1, and what is being done.
type Progress func(done float64, what string)

// PrivateDir is the folder of the private environment. Its name follows the pinned versions, so that a
// newer kafkalab makes itself a new one.
func PrivateDir() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no cache folder is known (%w): set HOME or XDG_CACHE_HOME", err)
	}
	sum := sha256.Sum256([]byte(requirements))
	return filepath.Join(cache, "kafkalab", fmt.Sprintf("jupyter-%x", sum[:4])), nil
}

// Private returns the JupyterLab of the private environment if it has been made.
func Private(ctx context.Context) (Lab, bool) {
	dir, err := PrivateDir()
	if err != nil {
		return Lab{}, false
	}
	if _, err := os.Stat(filepath.Join(dir, readyFile)); err != nil {
		return Lab{}, false
	}
	lab, ok := ask(ctx, filepath.Join(binDir(dir), executable("jupyter-lab")))
	lab.Private = true
	return lab, ok
}

// Make makes the private environment and returns its JupyterLab. It needs Python and the network, and
// takes a minute or two.
func Make(ctx context.Context, progress Progress) (Lab, error) {
	dir, err := PrivateDir()
	if err != nil {
		return Lab{}, err
	}
	unlock, err := lock(ctx, dir, progress)
	if err != nil {
		return Lab{}, err
	}
	defer unlock()
	if lab, ok := Private(ctx); ok { // another kafkalab was quicker
		return lab, nil
	}
	progress(0, "looking for Python")
	py, err := findPython(ctx)
	if err != nil {
		return Lab{}, err
	}
	if err := os.RemoveAll(dir); err != nil {
		return Lab{}, fmt.Errorf("a half-made environment is in the way: %w", err)
	}
	if err := build(ctx, py, dir, progress); err != nil {
		os.RemoveAll(dir)
		return Lab{}, err
	}
	removeOlder(dir)
	lab, ok := Private(ctx)
	if !ok {
		return Lab{}, fmt.Errorf("the new environment in %s does not start JupyterLab: remove that folder and try again", dir)
	}
	return lab, nil
}

func build(ctx context.Context, py python, dir string, progress Progress) error {
	progress(0.02, "making a Python environment")
	venv := exec.CommandContext(ctx, py.argv[0], append(py.argv[1:], "-m", "venv", dir)...)
	venv.Env = cleanEnv()
	if out, err := venv.CombinedOutput(); err != nil {
		return failed(ctx, "making a Python environment in "+dir, string(out), err)
	}
	list := filepath.Join(dir, "requirements.txt")
	if err := os.WriteFile(list, []byte(requirements), 0o644); err != nil {
		return err
	}
	if err := pipInstall(ctx, dir, list, progress); err != nil {
		return err
	}
	settings := filepath.Join(dir, "share", "jupyter", "lab", "settings")
	if err := os.MkdirAll(settings, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(settings, "overrides.json"), []byte(overrides), 0o644); err != nil {
		return err
	}
	progress(1, "JupyterLab is ready")
	return os.WriteFile(filepath.Join(dir, readyFile), nil, 0o644)
}

func pipInstall(ctx context.Context, dir, list string, progress Progress) error {
	pip := exec.CommandContext(ctx, filepath.Join(binDir(dir), executable("python")), "-m", "pip", "install",
		"--disable-pip-version-check", "--no-input", "--progress-bar", "off", "--require-hashes", "--requirement", list)
	pip.Env = append(cleanEnv(), "PYTHONUNBUFFERED=1")
	var complaints strings.Builder
	pip.Stderr = &complaints
	out, err := pip.StdoutPipe()
	if err != nil {
		return err
	}
	if err := pip.Start(); err != nil {
		return failed(ctx, "starting pip", "", err)
	}
	follow(out, progress)
	if err := pip.Wait(); err != nil {
		return failed(ctx, "installing JupyterLab with pip", complaints.String(), err)
	}
	return nil
}

// follow turns pip's lines into progress: it names each package when it fetches it, then unpacks all.
func follow(out io.Reader, progress Progress) {
	total, collected := packageCount(), 0
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20) // the line that names all packages is long
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if name, ok := strings.CutPrefix(line, "Collecting "); ok {
			collected++
			name, _, _ = strings.Cut(name, "==")
			progress(0.05+0.7*min(1, float64(collected)/float64(total)), "fetching "+name)
		}
		if strings.HasPrefix(line, "Installing collected packages") {
			progress(0.8, "unpacking")
		}
	}
	io.Copy(io.Discard, out) // a line too long for the scanner must not block pip
}

var pinned = regexp.MustCompile(`(?m)^([A-Za-z0-9_.-]+)==`)

// packageCount counts the packages of the list, each once; a few are for other platforms only.
func packageCount() int {
	names := map[string]bool{}
	for _, m := range pinned.FindAllStringSubmatch(requirements, -1) {
		names[m[1]] = true
	}
	return len(names)
}

// failed explains what went wrong in a step, by what people meet: no network, a full disk, no rights.
func failed(ctx context.Context, step, output string, err error) error {
	if ctx.Err() != nil {
		return errors.New(step + " was stopped; the next run starts it again")
	}
	remedy := ""
	switch text := strings.ToLower(output); {
	case contains(text, "name resolution", "name or service not known", "newconnectionerror", "connection refused",
		"connecttimeout", "readtimeout", "getaddrinfo", "network is unreachable", "proxyerror", "no matching distribution"):
		remedy = "the Python package index could not be reached: check the network (behind a proxy set HTTPS_PROXY, with a mirror PIP_INDEX_URL) and try again"
	case contains(text, "certificate", "sslerror"):
		remedy = "the package index's certificate is not trusted: set PIP_CERT to your organisation's certificates and try again"
	case contains(text, "do not match the hashes"):
		remedy = "a package is not the file that was pinned: nothing of it was installed; try again, or use another package index"
	case contains(text, "no space left"):
		remedy = "the disk is full: JupyterLab needs about 400 MB"
	case contains(text, "permission denied"), errors.Is(err, fs.ErrPermission):
		remedy = "there is no right to write there: set XDG_CACHE_HOME to a folder of your own"
	default:
		remedy = "install JupyterLab " + MinLab.String() + " or newer yourself (`pip install jupyterlab`), have it on the PATH, and try again"
	}
	return fmt.Errorf("%s failed (%w):\n%s\n%s", step, err, lastLines(output, 6), remedy)
}

func contains(text string, any ...string) bool {
	for _, a := range any {
		if strings.Contains(text, a) {
			return true
		}
	}
	return false
}

func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return "  " + strings.Join(lines[max(0, len(lines)-n):], "\n  ")
}

// removeOlder deletes the private environments of other versions: nobody else would.
func removeOlder(keep string) {
	others, _ := filepath.Glob(filepath.Join(filepath.Dir(keep), "jupyter-*"))
	for _, dir := range others {
		if dir != keep {
			os.RemoveAll(dir)
		}
	}
}

// cleanEnv is the environment without what would lead Python or pip out of ours.
func cleanEnv() []string {
	var env []string
	for _, kv := range os.Environ() {
		switch name, _, _ := strings.Cut(kv, "="); name {
		case "PYTHONHOME", "PYTHONPATH", "PIP_USER", "PIP_TARGET", "PIP_PREFIX", "PIP_REQUIRE_VIRTUALENV", "__PYVENV_LAUNCHER__":
		default:
			env = append(env, kv)
		}
	}
	return env
}

// CanMake tells what stands in the way of Make: nil, or an error that says how to mend it.
func CanMake(ctx context.Context) error {
	_, err := findPython(ctx)
	return err
}
