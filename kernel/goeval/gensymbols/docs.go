package main

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
)

// documented is a source file cut down to what documentation shows: declarations with their comments,
// without bodies and without what a package keeps for itself. It changes when the documentation does.
func documented(name string, source []byte) ([]byte, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, source, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	var kept []ast.Decl
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if !d.Name.IsExported() {
				continue
			}
			d.Body = nil
		case *ast.GenDecl:
			if d.Tok == token.IMPORT {
				continue
			}
		}
		kept = append(kept, d)
	}
	file.Decls, file.Imports = kept, nil
	file.Comments = within(kept, file)
	var b bytes.Buffer
	err = (&printer.Config{Mode: printer.UseSpaces | printer.TabIndent, Tabwidth: 8}).Fprint(&b, fset, file)
	return b.Bytes(), err
}

// within keeps the comments that belong to the package or to a declaration that stays.
func within(kept []ast.Decl, file *ast.File) []*ast.CommentGroup {
	var comments []*ast.CommentGroup
	for _, c := range file.Comments {
		if c.End() < file.Name.End() {
			comments = append(comments, c)
			continue
		}
		for _, d := range kept {
			if covers(d, c) {
				comments = append(comments, c)
				break
			}
		}
	}
	return comments
}

func covers(d ast.Decl, c *ast.CommentGroup) bool {
	switch d := d.(type) {
	case *ast.FuncDecl:
		return c == d.Doc
	case *ast.GenDecl:
		return c == d.Doc || (d.Pos() <= c.Pos() && c.End() <= d.End()+1)
	}
	return false
}
