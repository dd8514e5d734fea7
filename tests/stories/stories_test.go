// Package stories holds the protocol's stories: what Kafka does, told step by step. Each is a text file
// in testdata; kafkasim/simtest runs them. They are acceptance tests and documentation at once: read one.
package stories

import (
	"path/filepath"
	"testing"

	"kafkalab/kafkasim/simtest"
)

func TestStories(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no stories: %v", err)
	}
	for _, f := range files {
		t.Run(filepath.Base(f), func(t *testing.T) { simtest.Run(t, f) })
	}
}
