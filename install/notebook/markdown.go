package notebook

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"
)

// maxImage is the largest picture file that is taken into the page.
const maxImage = 8 << 20

// prose renders the markdown of one page: headings keep ids that are unique in the page, pictures come
// from attachments and from files beside the notebook, raw HTML passes the sanitizer.
type prose struct {
	markdown goldmark.Markdown
	ids      parser.IDs
	files    fs.FS // nil: no files
	cell     *Cell // whose attachments count
	clean    *sanitizer
}

func newProse(files fs.FS) *prose {
	p := &prose{files: files, ids: parser.NewContext().IDs()}
	p.markdown = goldmark.New(
		goldmark.WithExtensions(extension.GFM),
		goldmark.WithParserOptions(parser.WithAutoHeadingID()),
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(p, 1))),
	)
	return p
}

// RegisterFuncs puts our own rendering before goldmark's for what can carry something in from outside.
func (p *prose) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindRawHTML, p.rawHTML)
	r.Register(ast.KindHTMLBlock, p.htmlBlock)
	r.Register(ast.KindImage, p.image)
	r.Register(ast.KindFencedCodeBlock, p.code)
	r.Register(ast.KindCodeBlock, p.code)
}

// render renders text as the markdown of a cell, or of an output when cell is nil.
func (p *prose) render(text string, cell *Cell) (string, error) {
	p.cell, p.clean = cell, &sanitizer{}
	var b bytes.Buffer
	context := parser.NewContext(parser.WithIDs(p.ids))
	if err := p.markdown.Convert([]byte(text), &b, parser.WithContext(context)); err != nil {
		return "", fmt.Errorf("markdown: %w", err)
	}
	b.WriteString(p.clean.end())
	return b.String(), nil
}

func (p *prose) rawHTML(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		var raw strings.Builder
		segments := n.(*ast.RawHTML).Segments
		for i := range segments.Len() {
			segment := segments.At(i)
			raw.Write(segment.Value(source))
		}
		w.WriteString(p.clean.pass(raw.String()))
	}
	return ast.WalkSkipChildren, nil
}

func (p *prose) htmlBlock(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		block := n.(*ast.HTMLBlock)
		raw := string(block.Lines().Value(source))
		if block.HasClosure() {
			raw += string(block.ClosureLine.Value(source))
		}
		w.WriteString(p.clean.pass(raw))
	}
	return ast.WalkSkipChildren, nil
}

func (p *prose) code(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		language := ""
		if fenced, ok := n.(*ast.FencedCodeBlock); ok {
			language = string(fenced.Language(source))
		}
		w.WriteString("<pre><code class=\"k-chroma\">" + highlight(language, string(n.Lines().Value(source))) + "</code></pre>\n")
	}
	return ast.WalkSkipChildren, nil
}

func (p *prose) image(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	image := n.(*ast.Image)
	alt := altText(image, source)
	if data, ok := p.inline(string(image.Destination)); ok {
		fmt.Fprintf(w, `<img alt="%s" src="%s">`, escapeText(alt), data)
		return ast.WalkSkipChildren, nil
	}
	// A picture elsewhere would need the network, which the page does without.
	if alt == "" {
		alt = string(image.Destination)
	}
	fmt.Fprintf(w, `<em class="note">[picture: %s]</em>`, escapeText(alt))
	return ast.WalkSkipChildren, nil
}

func altText(n ast.Node, source []byte) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Text:
			b.Write(c.Segment.Value(source))
		case *ast.String:
			b.Write(c.Value)
		default:
			b.WriteString(altText(c, source))
		}
	}
	return b.String()
}

// inline turns an image's address into a data: URL: attachments, files beside the notebook, and what is
// one already.
func (p *prose) inline(destination string) (string, bool) {
	if name, ok := strings.CutPrefix(destination, "attachment:"); ok {
		if p.cell == nil {
			return "", false
		}
		if plain, err := url.PathUnescape(name); err == nil {
			name = plain
		}
		return pictureOf(p.cell.Attachments[name])
	}
	if mime, data, ok := strings.Cut(strings.TrimPrefix(destination, "data:"), ";base64,"); ok && strings.HasPrefix(destination, "data:") {
		return dataURL(mime, data)
	}
	u, err := url.Parse(destination)
	if err != nil || u.Scheme != "" || u.Host != "" || p.files == nil || !fs.ValidPath(path.Clean(u.Path)) {
		return "", false
	}
	info, err := fs.Stat(p.files, path.Clean(u.Path))
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxImage {
		return "", false
	}
	data, err := fs.ReadFile(p.files, path.Clean(u.Path))
	if err != nil {
		return "", false
	}
	mime := http.DetectContentType(data)
	if strings.EqualFold(path.Ext(u.Path), ".svg") {
		mime = "image/svg+xml"
	}
	return dataURL(mime, base64.StdEncoding.EncodeToString(data))
}
