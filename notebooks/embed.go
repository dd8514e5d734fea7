// Package notebooks carries the course inside the binary: an installed kafkalab has no source tree to
// copy the lessons from.
package notebooks

import (
	"embed"
	"io/fs"
	"path"
)

//go:embed *
var files embed.FS

// Lessons returns the course: every notebook, its map (README.md) and what the lessons refer to.
func Lessons() fs.FS { return lessons{files} }

// lessons hides the Go files that had to be embedded along.
type lessons struct{ fs.FS }

func (l lessons) ReadDir(name string) ([]fs.DirEntry, error) {
	all, err := fs.ReadDir(l.FS, name)
	kept := all[:0:0]
	for _, e := range all {
		if path.Ext(e.Name()) != ".go" {
			kept = append(kept, e)
		}
	}
	return kept, err
}
