package author

import (
	"fmt"
	"strings"

	"kafkalab/install/kernelspec"
	"kafkalab/install/notebook"
)

// Page is a page of a site, for its table of contents.
type Page struct {
	File  string // beside the index
	Title string
	About string // a line, "" for none
}

// Index makes the first page of a site, which lists the others.
func Index(title, about string, pages []Page) ([]byte, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s\n\n", title, about)
	for _, p := range pages {
		fmt.Fprintf(&b, "- [%s](%s)", p.Title, strings.ReplaceAll(p.File, " ", "%20"))
		if p.About != "" {
			b.WriteString(": " + p.About)
		}
		b.WriteString("\n")
	}
	nb := notebook.New(kernelspec.DefaultName, kernelspec.DefaultDisplayName, "go")
	nb.Cells = append(nb.Cells, cell(notebook.Markdown, "index", b.String()))
	return notebook.Export(nb, notebook.ExportOptions{Title: title})
}

// LinkPages turns a notebook's links to other notebooks of its folder into links to their pages.
func LinkPages(nb *notebook.Notebook, names []string) {
	for _, c := range nb.Cells {
		if c.Type != notebook.Markdown {
			continue
		}
		for _, name := range names {
			c.Source = strings.ReplaceAll(c.Source, "]("+name+")", "]("+strings.TrimSuffix(name, ".ipynb")+".html)")
		}
	}
}
