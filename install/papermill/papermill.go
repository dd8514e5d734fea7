// Package papermill makes the Python wheel that teaches papermill to write parameters as Go. papermill
// finds translators of other languages only in code that it loads, and it loads what an installed package
// names under the entry point papermill.engine (papermill, engines.py).
package papermill

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"strings"
	"time"
)

//go:embed kafkalab_papermill.py
var module string

// Name is the wheel's file name, which pip reads (binary distribution format, PEP 427).
const Name = "kafkalab_papermill-" + version + "-py3-none-any.whl"

const (
	version  = "1.0"
	distInfo = "kafkalab_papermill-" + version + ".dist-info/"
)

// Wheel is the wheel's content: the same bytes whenever it is made.
func Wheel() ([]byte, error) {
	files := []struct{ name, text string }{
		{"kafkalab_papermill.py", module},
		{distInfo + "METADATA", "Metadata-Version: 2.1\nName: kafkalab-papermill\nVersion: " + version +
			"\nSummary: Parameters of papermill for notebooks whose cells are Go\nLicense: Apache-2.0\n"},
		{distInfo + "WHEEL", "Wheel-Version: 1.0\nGenerator: kafkalab\nRoot-Is-Purelib: true\nTag: py3-none-any\n"},
		{distInfo + "entry_points.txt", "[papermill.engine]\nkafkalab = kafkalab_papermill:Engine\n"},
	}
	var b bytes.Buffer
	var record strings.Builder
	z := zip.NewWriter(&b)
	for _, f := range files {
		if err := add(z, f.name, f.text); err != nil {
			return nil, err
		}
		sum := sha256.Sum256([]byte(f.text))
		fmt.Fprintf(&record, "%s,sha256=%s,%d\n", f.name, base64.RawURLEncoding.EncodeToString(sum[:]), len(f.text))
	}
	record.WriteString(distInfo + "RECORD,,\n")
	if err := add(z, distInfo+"RECORD", record.String()); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func add(z *zip.Writer, name, text string) error {
	w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate, Modified: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)})
	if err != nil {
		return err
	}
	_, err = w.Write([]byte(text))
	return err
}
