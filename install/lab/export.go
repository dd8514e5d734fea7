package lab

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"kafkalab/charts/assets"
	"kafkalab/install/notebook"
	"kafkalab/kafkasim"
	"kafkalab/kernel"
)

// serveExport answers the menu entry "Export as stepping HTML": the frontend has saved the notebook and
// sends its path, and receives the page.
func serveExport(comm *kernel.Comm, opened kernel.CommMessage) error {
	var request assets.ExportRequest
	if err := json.Unmarshal(opened.Data, &request); err != nil {
		return fmt.Errorf("the request names no path: %w", err)
	}
	reply, err := exportPage(".", request.Path)
	if err != nil {
		reply = assets.ExportReply{Status: "error", Message: err.Error()}
	}
	if err := comm.Send(reply); err != nil {
		return err
	}
	return comm.Close(nil)
}

// exportPage makes the page of a saved notebook. Jupyter starts a kernel in the notebook's folder and
// names the notebook from the server's root, so the file is looked for by the ends of its path, the
// longest first.
func exportPage(dir, requested string) (assets.ExportReply, error) {
	name, err := find(dir, requested)
	if err != nil {
		return assets.ExportReply{}, err
	}
	nb, err := notebook.Read(name)
	if err != nil {
		return assets.ExportReply{}, err
	}
	page, err := notebook.Export(nb, notebook.ExportOptions{Files: os.DirFS(filepath.Dir(name)), Limits: Limits()})
	if err != nil {
		return assets.ExportReply{}, err
	}
	title := strings.TrimSuffix(path.Base(requested), ".ipynb") + ".html"
	return assets.ExportReply{Status: "ok", Name: title, HTML: string(page)}, nil
}

// Limits is what the simulator leaves out, in sentences, for the footer of a page.
func Limits() string { return kafkasim.NotModelled() }

func find(dir, requested string) (string, error) {
	clean := path.Clean("/" + filepath.ToSlash(requested))[1:] // never out of dir
	if clean == "" || path.Ext(clean) != ".ipynb" {
		return "", fmt.Errorf("%q is no notebook file", requested)
	}
	parts := strings.Split(clean, "/")
	for i := range parts {
		name := filepath.Join(dir, filepath.FromSlash(path.Join(parts[i:]...)))
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
			return name, nil
		} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	where, _ := filepath.Abs(dir)
	return "", fmt.Errorf("the notebook %s was not found from %s, where its kernel runs: "+
		"start the kernel from the notebook's folder, or run `kafkalab export` on the file", requested, where)
}
