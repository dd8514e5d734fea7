package wire

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// SignatureScheme is the one scheme we speak; the message spec names it as the default.
const SignatureScheme = "hmac-sha256"

// Signer signs and checks messages with the key of a connection file. An empty key means that nothing
// is signed and every signature is accepted, as the message spec says.
type Signer struct{ key []byte }

// NewSigner returns the signer of a key. Schemes other than hmac-sha256 are refused; "" means it.
func NewSigner(scheme, key string) (*Signer, error) {
	if scheme != "" && scheme != SignatureScheme {
		return nil, fmt.Errorf("wire: signature_scheme %q is not supported; want %q", scheme, SignatureScheme)
	}
	return &Signer{key: []byte(key)}, nil
}

// Sign returns the lowercase hex HMAC over the four JSON parts, or an empty frame without a key.
func (s *Signer) Sign(parts [4][]byte) []byte { return s.sign(parts[:]...) }

func (s *Signer) sign(parts ...[]byte) []byte {
	if len(s.key) == 0 {
		return []byte{}
	}
	mac := hmac.New(sha256.New, s.key)
	for _, p := range parts {
		mac.Write(p)
	}
	return hex.AppendEncode(make([]byte, 0, 2*sha256.Size), mac.Sum(nil))
}

// Verify compares in constant time.
func (s *Signer) Verify(signature []byte, parts [4][]byte) bool {
	if len(s.key) == 0 {
		return true
	}
	return hmac.Equal(signature, s.Sign(parts))
}
