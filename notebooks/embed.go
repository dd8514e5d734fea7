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

// masters is the folder of the authors' files, from which the lessons are made.
const masters = "masters"

// answers is the folder that a lesson's exercises write beside it.
const answers = "kafkalab-progress"

// Masters returns the lessons as their authors wrote them, and the glossary. They hold the answers.
func Masters() fs.FS {
	sub, err := fs.Sub(files, masters)
	if err != nil {
		panic(err) // a folder that is embedded is there
	}
	return sub
}

// Lessons returns the course: every notebook, its map (README.md) and what the lessons refer to.
func Lessons() fs.FS { return lessons{files} }

// lessons hides what is not for learners: the Go files that had to be embedded along, the masters, and the
// answers of whoever ran the lessons where they lie.
type lessons struct{ fs.FS }

func (l lessons) ReadDir(name string) ([]fs.DirEntry, error) {
	all, err := fs.ReadDir(l.FS, name)
	kept := all[:0:0]
	for _, e := range all {
		if path.Ext(e.Name()) != ".go" && e.Name() != masters && e.Name() != answers {
			kept = append(kept, e)
		}
	}
	return kept, err
}
