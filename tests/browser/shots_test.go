package browser

import (
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "keep the screenshots as they are now")

// The pictures in a browser look as they did when somebody last looked at them: coarsely, since every machine
// has other fonts. After a change, look at tests/out/browser/shots, then go test ./tests/browser -run Screenshots -update.
func TestScreenshotsLookAsTheyDid(t *testing.T) {
	path, expected := samplePage(t)
	dir, err := filepath.Abs("../out/browser/shots")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range expected {
		names = append(names, e.(map[string]any)["name"].(string))
	}
	script(t, "shots", map[string]any{"page": fileURL(path), "shots": dir, "names": names})
	for _, way := range []string{"light-1400", "light-400", "dark-1400", "dark-400"} {
		for _, name := range names {
			file := fmt.Sprintf("%s-%s.png", way, name)
			compareShot(t, filepath.Join("testdata", "shots", file), coarse(t, filepath.Join(dir, file)))
		}
	}
}

// shotScale is how many pixels of a screenshot become one.
const shotScale = 8

// coarse reads a screenshot and makes it small: each pixel is the mean of a square.
func coarse(t *testing.T, path string) *image.RGBA {
	t.Helper()
	full := readPNG(t, path)
	w, h := full.Bounds().Dx()/shotScale, full.Bounds().Dy()/shotScale
	small := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			var sum [3]int
			for dy := range shotScale {
				for dx := range shotScale {
					c := full.RGBAAt(x*shotScale+dx, y*shotScale+dy)
					sum[0], sum[1], sum[2] = sum[0]+int(c.R), sum[1]+int(c.G), sum[2]+int(c.B)
				}
			}
			const n = shotScale * shotScale
			small.SetRGBA(x, y, color.RGBA{uint8(sum[0] / n), uint8(sum[1] / n), uint8(sum[2] / n), 255})
		}
	}
	return small
}

func readPNG(t *testing.T, path string) *image.RGBA {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	decoded, err := png.Decode(f)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	out := image.NewRGBA(image.Rect(0, 0, decoded.Bounds().Dx(), decoded.Bounds().Dy()))
	draw.Draw(out, out.Bounds(), decoded, decoded.Bounds().Min, draw.Src)
	return out
}

// inkTolerance is how much of a picture's ink may be elsewhere: other fonts move letters, and nothing else.
const inkTolerance = 0.35

func compareShot(t *testing.T, path string, now *image.RGBA) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(f, now); err != nil {
			t.Fatal(err)
		}
		return
	}
	then := readPNG(t, path)
	if a, b := then.Bounds(), now.Bounds(); abs(a.Dx()-b.Dx()) > 1 || abs(a.Dy()-b.Dy()) > 4 {
		t.Errorf("%s is %v now, was %v", filepath.Base(path), b.Size(), a.Size())
		return
	}
	area := then.Bounds().Intersect(now.Bounds())
	paper := then.RGBAAt(1, area.Dy()/2) // the left edge of a figure is empty
	moved, ink := 0, 0
	for y := range area.Dy() {
		for x := range area.Dx() {
			was := then.RGBAAt(x, y)
			moved += distance(was, now.RGBAAt(x, y))
			ink += distance(was, paper)
		}
	}
	if share := float64(moved) / float64(max(ink, 1)); share > inkTolerance {
		t.Errorf("%s looks different: %.0f %% of its ink is elsewhere", filepath.Base(path), 100*share)
	}
}

func distance(a, b color.RGBA) int {
	return abs(int(a.R)-int(b.R)) + abs(int(a.G)-int(b.G)) + abs(int(a.B)-int(b.B))
}

func abs(n int) int { return max(n, -n) }

// A picture of which half is missing, or in other colours, is not taken for the same.
func TestTheComparisonSeesWhatIsMissing(t *testing.T) {
	paths, _ := filepath.Glob("testdata/shots/light-1400-page.png")
	if len(paths) != 1 {
		t.Fatal("no screenshot to compare with")
	}
	for name, spoil := range map[string]func(*image.RGBA){
		"white": func(m *image.RGBA) {
			draw.Draw(m, image.Rect(0, 5, m.Bounds().Dx(), m.Bounds().Dy()/2+10), image.White, image.Point{}, draw.Src)
		},
		"dark":      func(m *image.RGBA) { draw.Draw(m, m.Bounds(), image.Black, image.Point{}, draw.Src) },
		"the same":  func(*image.RGBA) {},
		"one shade": func(m *image.RGBA) { m.SetRGBA(3, 3, color.RGBA{9, 9, 9, 255}) },
	} {
		m := readPNG(t, paths[0])
		spoil(m)
		inner := &testing.T{}
		func() {
			defer func() { recover() }()
			compareShot(inner, paths[0], m)
		}()
		if want := name == "white" || name == "dark"; inner.Failed() != want {
			t.Errorf("%s: failed is %v", name, inner.Failed())
		}
	}
}
