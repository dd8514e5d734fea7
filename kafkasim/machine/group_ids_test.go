package machine

import (
	"encoding/base64"
	"strings"
	"testing"
)

// O-4: ids are 22 characters of base64url, of a UUID of version 4; none begins with a hyphen, and all differ.
func TestUUID(t *testing.T) {
	seen := map[string]bool{}
	for i := range uint64(2000) {
		id := UUID(1, drawMember, i)
		b, err := base64.RawURLEncoding.DecodeString(id)
		if err != nil || len(id) != 22 || b[6]>>4 != 4 || b[8]>>6 != 2 || strings.HasPrefix(id, "-") || seen[id] {
			t.Fatalf("id %d is %q (%v)", i, id, err)
		}
		seen[id] = true
	}
	if UUID(1, drawMember, 7) != UUID(1, drawMember, 7) || UUID(2, drawMember, 7) == UUID(1, drawMember, 7) {
		t.Error("an id follows from the seed and the number")
	}
}
