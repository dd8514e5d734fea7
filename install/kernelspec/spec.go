// Package kernelspec puts the kernel where Jupyter finds it, and takes it away again: a folder with
// kernel.json and logos in one of Jupyter's data directories, by ipykernel's habits (--user,
// --sys-prefix, --prefix).
//
// Source: jupyter_client docs/kernels.rst ("Kernel specs"), jupyter_core paths.py.
package kernelspec

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// DefaultName and DefaultDisplayName are what `kafkalab install` uses unless told otherwise.
const (
	DefaultName        = "kafkalab"
	DefaultDisplayName = "Go (Kafka Lab)"
)

// madeBy marks our own specs, so that uninstall never removes another kernel's folder.
const madeBy = "kafkalab"

//go:embed logo/logo-16x16.png logo/logo-32x32.png logo/logo-64x64.png logo/logo-svg.svg
var logos embed.FS

// Spec is a kernel.json.
type Spec struct {
	Argv            []string          `json:"argv"`
	DisplayName     string            `json:"display_name"`
	Language        string            `json:"language"`
	InterruptMode   string            `json:"interrupt_mode"`
	ProtocolVersion string            `json:"kernel_protocol_version"`
	Env             map[string]string `json:"env,omitempty"`
	Metadata        map[string]any    `json:"metadata,omitempty"`
}

// New describes the kernel that binary runs, with args of the kernel command. The path must be absolute: Jupyter starts kernels from the
// notebook's folder. Interrupts come as messages, which works on every platform and over every transport.
func New(binary, displayName string, args ...string) (Spec, error) {
	if !filepath.IsAbs(binary) {
		return Spec{}, fmt.Errorf("the kernel's program must be given by its absolute path, not %q", binary)
	}
	return Spec{
		Argv:            append(append([]string{binary, "kernel"}, args...), "{connection_file}"),
		DisplayName:     displayName,
		Language:        "go",
		InterruptMode:   "message",
		ProtocolVersion: "5.6.0",
		Metadata:        map[string]any{"made_by": madeBy, "debugger": false},
	}, nil
}

// Binary is the program that the spec starts, "" if it names none.
func (s Spec) Binary() string {
	if len(s.Argv) == 0 {
		return ""
	}
	return s.Argv[0]
}

// Ours tells whether this project wrote the spec.
func (s Spec) Ours() bool { return s.Metadata["made_by"] == madeBy }

var validName = regexp.MustCompile(`^[A-Za-z0-9._-]+$`)

// Install writes the spec and the logos as kernel name into dir and returns the kernel's folder. An older
// kernel of the same name is replaced if it is ours; another one is left and reported.
func Install(dir Dir, name string, s Spec) (string, error) {
	if !validName.MatchString(name) {
		return "", fmt.Errorf("a kernel's name is made of letters, digits, '.', '-' and '_': %q is not", name)
	}
	folder := dir.Kernel(name)
	if old, err := Read(folder); err == nil && !old.Ours() {
		return "", fmt.Errorf("%s holds another kernel (%q): choose another --name, or remove it with `jupyter kernelspec remove %s`",
			folder, old.DisplayName, name)
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", cannotWrite(err)
	}
	if err := copyLogos(folder); err != nil {
		return "", cannotWrite(err)
	}
	text, err := encode(s)
	if err != nil {
		return "", err
	}
	// kernel.json comes last and in one move: a kernel is there whole or not at all.
	if err := WriteFile(filepath.Join(folder, "kernel.json"), text, 0o644); err != nil {
		return "", cannotWrite(err)
	}
	return folder, nil
}

func encode(s Spec) ([]byte, error) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(s); err != nil {
		return nil, err
	}
	return []byte(b.String()), nil
}

func copyLogos(folder string) error {
	files, err := fs.Glob(logos, "logo/*")
	if err != nil {
		return err
	}
	for _, f := range files {
		data, err := logos.ReadFile(f)
		if err != nil {
			return err
		}
		if err := WriteFile(filepath.Join(folder, filepath.Base(f)), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func cannotWrite(err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("%w: install into a folder of your own with --user or --prefix, or run this with the rights to write there", err)
	}
	return err
}

// Read reads the kernel.json in a kernel's folder.
func Read(folder string) (Spec, error) {
	var s Spec
	data, err := os.ReadFile(filepath.Join(folder, "kernel.json"))
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(data, &s); err != nil {
		return s, fmt.Errorf("%s: %w", filepath.Join(folder, "kernel.json"), err)
	}
	return s, nil
}

// Uninstall removes the kernel's folder if the kernel is ours, and returns its spec.
func Uninstall(dir Dir, name string) (Spec, error) {
	folder := dir.Kernel(name)
	s, err := Read(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return s, fmt.Errorf("no kernel %q is installed in %s", name, dir.Kernels())
	}
	if err != nil {
		return s, err
	}
	if !s.Ours() {
		return s, fmt.Errorf("%s holds another kernel (%q), which is left alone", folder, s.DisplayName)
	}
	return s, os.RemoveAll(folder)
}

// Installed is a kernel that Jupyter would find.
type Installed struct {
	Name   string
	Folder string
	Spec   Spec
}

// List finds our kernels in the directories, in their order, then by name.
func List(dirs []Dir) []Installed {
	var found []Installed
	for _, d := range dirs {
		entries, err := os.ReadDir(d.Kernels())
		if err != nil {
			continue
		}
		for _, e := range entries {
			folder := d.Kernel(e.Name())
			if s, err := Read(folder); err == nil && s.Ours() {
				found = append(found, Installed{e.Name(), folder, s})
			}
		}
	}
	return slices.Clip(found)
}

// WriteFile writes a file in one move, so that no reader ever sees half of it.
func WriteFile(path string, data []byte, mode fs.FileMode) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	if _, err := tmp.Write(data); err != nil {
		tmp.Close()
		return err
	}
	if err := tmp.Close(); err != nil {
		return err
	}
	if err := os.Chmod(tmp.Name(), mode); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}
