package assets

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// LabExtensionName is the extension's name and its folder's under a labextensions folder.
const LabExtensionName = "kafkalab-charts"

// LabExtensionVersion is the version that JupyterLab lists.
const LabExtensionVersion = "0.1.0"

// ExportTarget is the comm target of the menu entry "Export as stepping HTML". The extension saves the
// notebook, opens the comm with an ExportRequest and waits a minute for one ExportReply.
const ExportTarget = "kafkalab.export"

// ExportRequest is the data of the comm_open. Path is the notebook's, relative to the Jupyter server's
// root; the kernel's working directory is, as a rule, the notebook's folder.
type ExportRequest struct {
	Path string `json:"path"`
}

// ExportReply is the data of the one comm_msg that answers.
type ExportReply struct {
	Status  string `json:"status"`            // "ok" or "error"
	Name    string `json:"name,omitempty"`    // ok: the file name to offer
	HTML    string `json:"html,omitempty"`    // ok: the page
	Message string `json:"message,omitempty"` // error: a sentence for the reader
}

// labFiles returns the extension's files by their path in its folder, but for package.json, and the name
// of the remote entry. Servers tell browsers to keep static files for a year, so every name holds a hash.
func labFiles() (files map[string][]byte, entry string) {
	chunk, whole := hashed("echarts", echarts), hashed("echarts-full", echartsFull)
	source := "(() => {\n\"use strict\";\nconst SELF = document.currentScript.src;\n" +
		"const NAME = \"" + LabExtensionName + "\";\nconst ECHARTS = \"" + chunk + "\";\nconst ECHARTS_FULL = \"" + whole + "\";\n" +
		drawingSource() + reviveSource + labSource + "})();\n"
	entry = hashed("remoteEntry", source)
	files = map[string][]byte{
		"static/" + chunk: []byte(echarts),
		"static/" + whole: []byte(echartsFull),
		"static/" + entry: []byte(source),
		"install.json": marshal(map[string]string{
			"packageManager": "kafkalab", "packageName": LabExtensionName,
			"uninstallInstructions": "Use `kafkalab uninstall`",
		}),
	}
	for _, l := range Licenses() {
		files["static/"+l.Name] = l.Text
	}
	return files, entry
}

func hashed(name, text string) string {
	sum := sha256.Sum256([]byte(text))
	return name + "." + hex.EncodeToString(sum[:10]) + ".js"
}

func packageJSON(entry string) []byte {
	return marshal(map[string]any{
		"name": LabExtensionName, "version": LabExtensionVersion, "license": "Apache-2.0",
		"description": "Draws Kafka Lab's charts and exports notebooks that still step",
		"jupyterlab": map[string]any{
			"extension": true, "mimeExtension": true,
			"_build": map[string]string{
				"load": "static/" + entry, "extension": "./extension", "mimeExtension": "./mimeExtension",
			},
		},
	})
}

func marshal(v any) []byte {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		panic(err) // plain maps of strings
	}
	return append(data, '\n')
}

// WriteLabExtension writes the prebuilt extension into a labextensions folder, such as
// <jupyter data dir>/labextensions. JupyterLab 4.2 and later and Notebook 7 pick it up when their page is
// loaded next. Writing again changes nothing; an older version is replaced, and its files go after the
// new ones are in use. It fails when the folder holds somebody else's extension of that name.
func WriteLabExtension(labextensions string) error {
	dir := filepath.Join(labextensions, LabExtensionName)
	if err := ours(dir); err != nil {
		return err
	}
	files, entry := labFiles()
	for name, data := range files {
		if err := writeFile(filepath.Join(dir, filepath.FromSlash(name)), data); err != nil {
			return fmt.Errorf("JupyterLab extension: %w", err)
		}
	}
	// package.json comes last: until then a server that looks sees the old version, whole.
	if err := writeFile(filepath.Join(dir, "package.json"), packageJSON(entry)); err != nil {
		return fmt.Errorf("JupyterLab extension: %w", err)
	}
	old, err := os.ReadDir(filepath.Join(dir, "static"))
	if err != nil {
		return fmt.Errorf("JupyterLab extension: %w", err)
	}
	for _, f := range old {
		if _, current := files["static/"+f.Name()]; !current {
			if err := os.RemoveAll(filepath.Join(dir, "static", f.Name())); err != nil {
				return fmt.Errorf("JupyterLab extension, an older file: %w", err)
			}
		}
	}
	return nil
}

// RemoveLabExtension removes what WriteLabExtension wrote. It is no error when nothing is there.
func RemoveLabExtension(labextensions string) error {
	dir := filepath.Join(labextensions, LabExtensionName)
	if err := ours(dir); err != nil {
		return err
	}
	// package.json goes first: a folder without it is no extension.
	if err := os.Remove(filepath.Join(dir, "package.json")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("JupyterLab extension: %w", err)
	}
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("JupyterLab extension: %w", err)
	}
	return nil
}

// LabExtensionState says whether the extension stands in a labextensions folder and whether it is the
// one that this program would write.
func LabExtensionState(labextensions string) (installed, current bool, err error) {
	dir := filepath.Join(labextensions, LabExtensionName)
	files, entry := labFiles()
	files["package.json"] = packageJSON(entry)
	have, err := os.ReadFile(filepath.Join(dir, "package.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return false, false, nil
	}
	if err != nil {
		return false, false, fmt.Errorf("JupyterLab extension: %w", err)
	}
	if !bytes.Equal(have, files["package.json"]) {
		return true, false, ours(dir)
	}
	for name, data := range files {
		have, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil || !bytes.Equal(have, data) {
			return true, false, nil
		}
	}
	return true, true, nil
}

// ours refuses to touch a folder that somebody else made.
func ours(dir string) error {
	info, err := os.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("JupyterLab extension: %w", err)
	}
	if !info.IsDir() {
		return fmt.Errorf("JupyterLab extension: %s is not a folder that Kafka Lab made; move it away first", dir)
	}
	data, err := os.ReadFile(filepath.Join(dir, "package.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // a half-written or half-removed one
	}
	var found struct{ Name string }
	if err := errors.Join(err, json.Unmarshal(data, &found)); err != nil || found.Name != LabExtensionName {
		return fmt.Errorf("JupyterLab extension: %s holds the package %q, not %q; move it away first", dir, found.Name, LabExtensionName)
	}
	return nil
}

// writeFile writes a whole file or leaves the one that is there; the same bytes are not written again.
func writeFile(path string, data []byte) error {
	if have, err := os.ReadFile(path); err == nil && bytes.Equal(have, data) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".kafkalab-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(data)
	if err := errors.Join(err, f.Chmod(0o644), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// License is one licence text of what ECharts' build holds.
type License struct {
	Name string // file name, "echarts.LICENSE.txt"
	Text []byte
}

// Licenses returns the licences that must travel with ECharts, by name.
func Licenses() []License {
	entries, err := licenses.ReadDir("licenses")
	if err != nil {
		panic(err) // it is embedded
	}
	var all []License
	for _, e := range entries {
		text, err := licenses.ReadFile("licenses/" + e.Name())
		if err != nil {
			panic(err)
		}
		all = append(all, License{e.Name(), text})
	}
	return all
}
