package notebook

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/alecthomas/chroma/v2"
	chromahtml "github.com/alecthomas/chroma/v2/formatters/html"
	"github.com/alecthomas/chroma/v2/lexers"
	"github.com/alecthomas/chroma/v2/styles"

	"kafkalab/charts/assets"
)

var (
	//go:embed page/page.css
	pageCSS string
	//go:embed page/page.js
	pageJS string
)

// ExportOptions are the choices for a page.
type ExportOptions struct {
	Title string // of the page; empty: the first heading, else "Notebook"
	Files fs.FS  // the notebook's folder, for pictures that its markdown names; nil: none are taken

	FoldCode bool   // code begins folded; a reader unfolds it
	Limits   string // what the simulator leaves out, for the footer; empty: nothing is said
}

// page is one page in the making.
type page struct {
	bytes.Buffer
	prose   *prose
	options ExportOptions
	codes   bool // there is code to fold
	charts  bool // there is one
	curves  bool // there is one that ECharts draws
	full    bool // there is one that only the full build of ECharts draws
}

func (p *page) write(s string) { p.WriteString(s) }

// Export turns a notebook with its outputs into one HTML file that needs neither the network nor Jupyter:
// the charts step by mouse and keyboard, drawn by the script that JupyterLab uses, and show as pictures
// where JavaScript is off. A content security policy shuts the network out; of the notebook's own HTML
// only harmless tags pass, without attributes.
func Export(nb *Notebook, options ExportOptions) ([]byte, error) {
	p := &page{prose: newProse(options.Files), options: options}
	for i, c := range nb.Cells {
		if err := p.cell(c, nb.Language()); err != nil {
			return nil, fmt.Errorf("cell %d (id %s): %w", i+1, c.ID, err)
		}
	}
	title := options.Title
	if title == "" {
		title = Heading(nb)
	}
	var scripts []string
	if p.charts {
		scripts = append(scripts, assets.Script())
	}
	if p.charts || p.codes {
		scripts = append(scripts, pageJS)
	}
	allowed, library := scripts, ""
	if p.curves {
		var runs string
		runs, library = p.library()
		allowed = append(allowed, runs) // the page unpacks it and runs just this
	}
	var out bytes.Buffer
	out.WriteString("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n")
	fmt.Fprintf(&out, "<meta http-equiv=\"Content-Security-Policy\" content=\"%s\">\n", policy(allowed))
	out.WriteString("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"generator\" content=\"Kafka Lab\">\n")
	fmt.Fprintf(&out, "<title>%s</title>\n<style>\n%s%s</style>\n</head>\n<body>\n<main>\n", escapeText(title), pageCSS, highlightCSS())
	body := p.String()
	toc := contents(body)
	if title, rest, ok := strings.Cut(body, "</section>\n"); ok && strings.Contains(title, "<h1") {
		out.WriteString(title + "</section>\n" + toc + rest)
	} else {
		out.WriteString(toc + body)
	}
	out.WriteString("</main>\n<footer>\n")
	p.footer(&out)
	out.WriteString("</footer>\n")
	if p.curves {
		out.WriteString("<script type=\"application/gzip\" id=\"echarts\">" + library + "</script>\n")
	}
	for _, s := range scripts {
		out.WriteString("<script>" + s + "</script>\n")
	}
	out.WriteString("</body>\n</html>\n")
	return out.Bytes(), nil
}

// ExportFile is Export of a notebook file, titled by its first heading, with the pictures of its folder.
func ExportFile(path string) ([]byte, error) {
	nb, err := Read(path)
	if err != nil {
		return nil, err
	}
	folder, err := os.OpenRoot(filepath.Dir(path)) // no link in it leads out
	if err != nil {
		return nil, fmt.Errorf("%s: its folder cannot be read: %w", path, err)
	}
	defer folder.Close()
	page, err := Export(nb, ExportOptions{Files: folder.FS()})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return page, nil
}

// The builds of ECharts as base64 of their gzip: a third of the size.
var (
	packedSmall = sync.OnceValue(func() string { return packed(assets.ECharts()) })
	packedFull  = sync.OnceValue(func() string { return packed(assets.EChartsFull()) })
)

// library is the build of ECharts that the page's charts need, as it runs and as it is packed into the page. The full
// one draws what the small one does: a page holds one of the two.
func (p *page) library() (runs, packed string) {
	if p.full {
		return assets.EChartsFull(), packedFull()
	}
	return assets.ECharts(), packedSmall()
}

func packed(library string) string {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		panic(err) // the level is one of gzip's
	}
	z.Write([]byte(library))
	z.Close()
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

var (
	headings = regexp.MustCompile(`(?s)<h([23]) id="([^"]*)">(.*?)</h[23]>`)
	anyTag   = regexp.MustCompile(`<[^>]*>`)
)

// contents is the table of contents, made of the headings of the second and third order; nothing for a page with
// fewer than three of them.
func contents(body string) string {
	list := headings.FindAllStringSubmatch(body, -1)
	if len(list) < 3 {
		return ""
	}
	var b strings.Builder
	b.WriteString("<nav class=\"toc\" aria-label=\"Contents\"><details open><summary>Contents</summary>\n<ul>\n")
	for _, h := range list {
		fmt.Fprintf(&b, "<li class=\"l%s\"><a href=\"#%s\">%s</a></li>\n", h[1], h[2], anyTag.ReplaceAllString(h[3], ""))
	}
	b.WriteString("</ul>\n</details></nav>\n")
	return b.String()
}

// policy lets the page's own scripts run, by their hashes, and nothing be loaded.
func policy(scripts []string) string {
	allow := "'none'"
	if len(scripts) > 0 {
		var hashes []string
		for _, s := range scripts {
			sum := sha256.Sum256([]byte(s))
			hashes = append(hashes, "'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'")
		}
		allow = strings.Join(hashes, " ")
	}
	return "default-src 'none'; script-src " + allow + "; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
}

// Heading is the notebook's first heading, "Notebook" when it has none.
func Heading(nb *Notebook) string {
	for _, c := range nb.Cells {
		if c.Type != Markdown {
			continue
		}
		for line := range strings.Lines(c.Source) {
			if heading, ok := strings.CutPrefix(strings.TrimSpace(line), "# "); ok {
				return strings.Trim(heading, " #")
			}
		}
	}
	return "Notebook"
}

func (p *page) cell(c *Cell, language string) error {
	switch c.Type {
	case Markdown:
		rendered, err := p.prose.render(c.Source, c)
		p.write("<section class=\"cell md\">\n" + rendered + "</section>\n")
		return err
	case Raw:
		if c.Source != "" {
			p.write("<section class=\"cell\"><pre class=\"note\">" + escapeText(c.Source) + "</pre></section>\n")
		}
		return nil
	}
	hides, _ := c.Metadata["jupyter"].(map[string]any)
	p.write("<section class=\"cell\">\n")
	if c.Source != "" {
		p.input(c, language, hides["source_hidden"] == true)
	}
	if len(c.Outputs) > 0 && hides["outputs_hidden"] != true {
		p.write("<div class=\"out\">\n")
		for i, o := range c.Outputs {
			if err := p.output(o); err != nil {
				return fmt.Errorf("output %d: %w", i+1, err)
			}
		}
		p.write("</div>\n")
	}
	p.write("</section>\n")
	return nil
}

func (p *page) input(c *Cell, language string, hidden bool) {
	prompt := "[ ]"
	if c.ExecutionCount > 0 {
		prompt = fmt.Sprintf("[%d]", c.ExecutionCount)
	}
	p.codes = true
	open := " open"
	if hidden || p.options.FoldCode {
		open = ""
	}
	p.write("<details class=\"row code\"" + open + "><summary><span class=\"prompt\">" + prompt + "</span><span class=\"word\"> code</span></summary>" +
		"<pre class=\"in\"><code class=\"k-chroma\">" + highlight(language, c.Source) + "</code></pre></details>\n")
}

func (p *page) footer(out *bytes.Buffer) {
	out.WriteString("<p>Made by Kafka Lab. This page needs no network. ")
	if p.charts {
		out.WriteString("A replay steps with its buttons and slider, or, once it has the focus, with the arrow keys, Home, End and the space bar.")
		out.WriteString("<noscript> Without JavaScript the charts show as still pictures.</noscript>")
	}
	out.WriteString("</p>\n")
	if p.options.Limits != "" {
		out.WriteString("<details open><summary>Not modelled</summary>\n<p>" + escapeText(p.options.Limits) + "</p>\n</details>\n")
	}
	if p.curves {
		out.WriteString("<details><summary>The curves are drawn by Apache ECharts: licences</summary>\n")
		for _, l := range assets.Licenses() {
			out.WriteString("<pre>" + escapeText(string(l.Text)) + "</pre>\n")
		}
		out.WriteString("</details>\n")
	}
}

// highlight colours code by classes; a language that chroma does not know comes out plain.
func highlight(language, code string) string {
	lexer := lexers.Get(language)
	if lexer == nil {
		return escapeText(code)
	}
	tokens, err := chroma.Coalesce(lexer).Tokenise(nil, code)
	if err != nil {
		return escapeText(code)
	}
	var b strings.Builder
	for token := tokens(); token != chroma.EOF; token = tokens() {
		text := escapeText(token.Value)
		if class := classOf(token.Type); class != "" {
			text = `<span class="` + class + `">` + text + "</span>"
		}
		b.WriteString(text)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func classOf(t chroma.TokenType) string {
	for _, known := range []chroma.TokenType{t, t.SubCategory(), t.Category()} {
		if class, ok := chroma.StandardTypes[known]; ok && class != "" {
			return "k-" + class
		}
	}
	return ""
}

// highlightCSS is the colours of code on a light page, on a dark one, and on paper.
func highlightCSS() string {
	formatter := chromahtml.New(chromahtml.WithClasses(true), chromahtml.ClassPrefix("k-"))
	var light, dark bytes.Buffer
	for name, into := range map[string]*bytes.Buffer{"github": &light, "github-dark": &dark} {
		if err := formatter.WriteCSS(into, styles.Get(name)); err != nil {
			panic(err) // built-in styles into memory
		}
	}
	// Each set stands alone: what one of them does not name would keep the other's colour, black on black.
	return "@media print, screen and (prefers-color-scheme: light) {\n" + light.String() + "}\n@media screen and (prefers-color-scheme: dark) {\n" + dark.String() +
		"}\n.k-bg, .k-chroma { background: none; }\n"
}
