package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"kafkalab/install/kernelspec"
	"kafkalab/install/lab"
	"kafkalab/install/notebook"
)

func newExport() *cobra.Command {
	var f executeFlags
	var output, title string
	var noRun, fold bool
	cmd := &cobra.Command{
		Use:   "export NOTEBOOK.ipynb | FOLDER",
		Short: "Run a notebook and write one HTML file that steps offline",
		Long: `Run a notebook and write it as one HTML file. The page needs no Jupyter and no network, and its charts still
step by mouse and keyboard. The notebook itself is not changed. A folder becomes a site: a page for each
notebook, and an index; a lesson of the course is shown solved.`,
		Example: `  kafkalab export 06-when-a-leader-fails.ipynb
  kafkalab export lesson.ipynb --no-run -o page.html
  kafkalab export notebooks -o site`,
		Args: exactly("the notebook"),
		RunE: func(cmd *cobra.Command, args []string) error {
			path := args[0]
			if info, err := os.Stat(path); err == nil && info.IsDir() {
				if output == "" {
					output = filepath.Join(path, "site")
				}
				return exportSite(cmd.Context(), &f, path, output, noRun, cmd.ErrOrStderr())
			}
			nb, err := f.prepare(cmd, path)
			if err != nil {
				return err
			}
			var failed error
			if !noRun {
				failed = f.execute(cmd.Context(), nb, path, nothing{}, cmd.ErrOrStderr())
			}
			if output == "" {
				output = strings.TrimSuffix(path, ".ipynb") + ".html"
			}
			// A page of a run that failed is written too: it shows where.
			if err := writePage(nb, path, output, notebook.ExportOptions{Title: title, FoldCode: fold}); err != nil {
				return errors.Join(failed, err)
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "Written to %s\n", output)
			return failed
		},
	}
	f.add(cmd)
	cmd.Flags().StringVarP(&output, "output", "o", "", "the HTML file (default: beside the notebook)")
	cmd.Flags().StringVar(&title, "title", "", "the page's title (default: the notebook's first heading)")
	cmd.Flags().BoolVar(&fold, "fold-code", false, "let code begin folded")
	cmd.Flags().BoolVar(&noRun, "no-run", false, "take the outputs that the notebook holds")
	return cmd
}

func writePage(nb *notebook.Notebook, path, output string, options notebook.ExportOptions) error {
	options.Files, options.Limits = os.DirFS(filepath.Dir(path)), lab.Limits()
	html, err := notebook.Export(nb, options)
	if err != nil {
		return fmt.Errorf("%s cannot be exported: %w", path, err)
	}
	if err := kernelspec.WriteFile(output, html, 0o644); err != nil {
		return fmt.Errorf("the page cannot be written: %w", err)
	}
	return nil
}
