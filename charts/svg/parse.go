package svg

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

// node is one element with its attributes; text is the character data inside.
type node struct {
	name     string
	attrs    map[string]string
	text     string
	children []*node
}

// maxNodes bounds the elements of one document: a chart has some hundred.
const maxNodes = 200_000

// parse reads a document into a tree. A style attribute is unfolded into single attributes, which it
// overrides, as CSS does.
func parse(text string) (*node, error) {
	decoder := xml.NewDecoder(strings.NewReader(text))
	root := &node{}
	stack := []*node{root}
	for count := 0; ; {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("svg: not well-formed: %w", err)
		}
		top := stack[len(stack)-1]
		switch t := token.(type) {
		case xml.StartElement:
			if count++; count > maxNodes {
				return nil, fmt.Errorf("svg: more than %d elements", maxNodes)
			}
			child := &node{name: t.Name.Local, attrs: attributes(t.Attr)}
			top.children = append(top.children, child)
			stack = append(stack, child)
		case xml.EndElement:
			stack = stack[:len(stack)-1]
		case xml.CharData:
			top.text += string(t)
		}
	}
	for _, child := range root.children {
		if child.name == "svg" {
			return child, nil
		}
	}
	return nil, errors.New("svg: no <svg> element")
}

func attributes(list []xml.Attr) map[string]string {
	attrs := make(map[string]string, len(list))
	for _, a := range list {
		attrs[a.Name.Local] = a.Value
	}
	for declaration := range strings.SplitSeq(attrs["style"], ";") {
		if name, value, ok := strings.Cut(declaration, ":"); ok {
			attrs[strings.TrimSpace(name)] = strings.TrimSpace(value)
		}
	}
	return attrs
}

// definitions collects every element with an id, for clip-path="url(#…)" and fill="url(#…)".
func definitions(n *node, into map[string]*node) {
	if id := n.attrs["id"]; id != "" {
		into[id] = n
	}
	for _, child := range n.children {
		definitions(child, into)
	}
}
