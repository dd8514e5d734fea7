package simtest

import (
	"strings"
	"testing"

	"kafkalab/kafkasim"
)

// WantUsage wants a call to end in a UsageError with these words.
func WantUsage(t *testing.T, says string, do func()) {
	t.Helper()
	defer func() {
		if e, ok := recover().(*kafkasim.UsageError); !ok || !strings.Contains(e.Error(), says) {
			t.Errorf("%v, want %q", e, says)
		}
	}()
	do()
}
