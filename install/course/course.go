// Package course lays the lessons out in a folder where a learner can work on them, and brings newer
// lessons later without ever touching what the learner has changed.
//
// A small file in the folder remembers the hash of every file as it was handed out. From it:
//   - a file that is not there is written (so removing a lesson is the way to get it afresh);
//   - a file that is still as it was handed out is replaced by a newer version;
//   - a file that the learner changed stays, and a newer version is put beside it under a name of its own.
package course

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"kafkalab/install/kernelspec"
)

// record is the file that remembers what was handed out. It starts with a dot: JupyterLab does not show it.
const record = ".kafkalab-course.json"

// Report says what laying out did, by the files' names in the course.
type Report struct {
	Dir     string
	Written []string // new here
	Renewed []string // replaced by a newer version: the learner had not changed them
	Beside  []string // newer versions put beside the learner's own
	Kept    []string // the learner's own, with nothing newer to offer
}

// LayOut brings the course into dir, which is made if it is missing.
func LayOut(lessons fs.FS, dir string) (Report, error) {
	r := Report{Dir: dir}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return r, fmt.Errorf("the folder for the course cannot be made: %w (choose another with --dir)", err)
	}
	handedOut, err := readRecord(dir)
	if err != nil {
		return r, err
	}
	err = fs.WalkDir(lessons, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := fs.ReadFile(lessons, name)
		if err != nil {
			return err
		}
		return layOut(&r, handedOut, name, data)
	})
	if err != nil {
		return r, fmt.Errorf("the course cannot be written: %w (choose another folder with --dir)", err)
	}
	return r, writeRecord(dir, handedOut)
}

func layOut(r *Report, handedOut map[string]string, name string, data []byte) error {
	at := filepath.Join(r.Dir, filepath.FromSlash(name))
	now := hash(data)
	current, err := os.ReadFile(at)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		r.Written = append(r.Written, name)
	case err != nil:
		return err
	case hash(current) == now:
		handedOut[name] = now
		return nil
	case handedOut[name] == now:
		r.Kept = append(r.Kept, name)
		return nil
	case hash(current) == handedOut[name]:
		r.Renewed = append(r.Renewed, name)
	default:
		if at, err = free(at, data); err != nil || at == "" {
			handedOut[name] = now
			return err
		}
		r.Beside = append(r.Beside, filepath.ToSlash(filepath.Join(path.Dir(name), filepath.Base(at))))
	}
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		return err
	}
	handedOut[name] = now
	return kernelspec.WriteFile(at, data, 0o644)
}

// free finds an unused name for a newer version beside the learner's own: "… (new version).ipynb",
// "… (new version 2).ipynb". It is "" when the newer version lies there already.
func free(at string, data []byte) (string, error) {
	ext := filepath.Ext(at)
	stem := strings.TrimSuffix(at, ext)
	for n := 1; ; n++ {
		name := stem + " (new version)" + ext
		if n > 1 {
			name = fmt.Sprintf("%s (new version %d)%s", stem, n, ext)
		}
		there, err := os.ReadFile(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return name, nil
		case err != nil:
			return "", err
		case hash(there) == hash(data):
			return "", nil
		}
	}
}

func hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func readRecord(dir string) (map[string]string, error) {
	handedOut := map[string]string{}
	data, err := os.ReadFile(filepath.Join(dir, record))
	if errors.Is(err, fs.ErrNotExist) {
		return handedOut, nil
	}
	if err != nil {
		return nil, err
	}
	if json.Unmarshal(data, &handedOut) != nil {
		// Without the record every file counts as the learner's own, which is the safe side.
		return map[string]string{}, nil
	}
	return handedOut, nil
}

func writeRecord(dir string, handedOut map[string]string) error {
	data, err := json.MarshalIndent(handedOut, "", " ")
	if err != nil {
		return err
	}
	return kernelspec.WriteFile(filepath.Join(dir, record), append(data, '\n'), 0o644)
}
