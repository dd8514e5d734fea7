package course

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/fstest"
)

const lesson = "06-when-a-leader-fails.ipynb"

func edition(text string) fstest.MapFS {
	return fstest.MapFS{lesson: {Data: []byte(text)}, "data/orders.txt": {Data: []byte("orders")}}
}

func layOutIn(t *testing.T, dir, text string) Report {
	t.Helper()
	r, err := LayOut(edition(text), dir)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func write(t *testing.T, dir, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, lesson), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func holds(t *testing.T, dir, name, want string) {
	t.Helper()
	got, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil || string(got) != want {
		t.Errorf("%s holds %q (%v), want %q", name, got, err, want)
	}
}

func TestTheCourseArrivesOnceAndStays(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "my course")
	if r := layOutIn(t, dir, "one"); len(r.Written) != 2 {
		t.Errorf("first time wrote %v, want both files", r.Written)
	}
	holds(t, dir, "data/orders.txt", "orders")
	if r := layOutIn(t, dir, "one"); len(r.Written)+len(r.Renewed)+len(r.Beside)+len(r.Kept) != 0 {
		t.Errorf("second time did something: %+v", r)
	}
}

func TestALearnersWorkIsNeverOverwritten(t *testing.T) {
	dir := t.TempDir()
	layOutIn(t, dir, "one")
	write(t, dir, "my answers")

	if r := layOutIn(t, dir, "one"); !slices.Contains(r.Kept, lesson) {
		t.Errorf("the learner's file is not reported as kept: %+v", r)
	}
	r := layOutIn(t, dir, "two")
	const beside = "06-when-a-leader-fails (new version).ipynb"
	if !slices.Equal(r.Beside, []string{beside}) {
		t.Errorf("beside: %v", r.Beside)
	}
	holds(t, dir, lesson, "my answers")
	holds(t, dir, beside, "two")

	if r := layOutIn(t, dir, "two"); len(r.Beside) != 0 {
		t.Errorf("the same version was put beside twice: %v", r.Beside)
	}
	layOutIn(t, dir, "three")
	holds(t, dir, beside, "two")
	holds(t, dir, "06-when-a-leader-fails (new version 2).ipynb", "three")
	holds(t, dir, lesson, "my answers")
}

func TestAnUntouchedLessonIsRenewed(t *testing.T) {
	dir := t.TempDir()
	layOutIn(t, dir, "one")
	if r := layOutIn(t, dir, "two"); !slices.Equal(r.Renewed, []string{lesson}) {
		t.Errorf("renewed %v", r.Renewed)
	}
	holds(t, dir, lesson, "two")
}

func TestAFileOfUnknownOriginCountsAsTheLearners(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "from elsewhere")
	layOutIn(t, dir, "one")
	holds(t, dir, lesson, "from elsewhere")
	os.WriteFile(filepath.Join(dir, record), []byte("{broken"), 0o644)
	layOutIn(t, dir, "two")
	holds(t, dir, lesson, "from elsewhere")
}

func TestARemovedLessonComesBackAfresh(t *testing.T) {
	dir := t.TempDir()
	layOutIn(t, dir, "one")
	write(t, dir, "spoilt")
	os.Remove(filepath.Join(dir, lesson))
	if r := layOutIn(t, dir, "one"); !slices.Equal(r.Written, []string{lesson}) {
		t.Errorf("written %v", r.Written)
	}
	holds(t, dir, lesson, "one")
}

func TestAFolderThatCannotBeMadeIsOneSentence(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	os.WriteFile(file, nil, 0o644)
	if _, err := LayOut(edition("one"), filepath.Join(file, "course")); err == nil {
		t.Error("laying out below a file went well")
	}
}
