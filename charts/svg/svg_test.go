package svg

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"math"
	"strings"
	"testing"
	"time"
)

// drawn rasterises the inside of a 40 x 40 picture at 1 pixel a unit.
func drawn(t *testing.T, inside string) *image.RGBA {
	t.Helper()
	picture, err := Rasterise(`<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40" viewBox="0 0 40 40">`+inside+`</svg>`, 1)
	if err != nil {
		t.Fatal(err)
	}
	return picture
}

var (
	white = color.RGBA{255, 255, 255, 255}
	red   = color.RGBA{255, 0, 0, 255}
	blue  = color.RGBA{0, 0, 255, 255}
)

// TestShapesAreWhereTheySay draws one thing at a time and looks at single pixels.
func TestShapesAreWhereTheySay(t *testing.T) {
	type pixel struct {
		x, y int
		want color.RGBA
	}
	for _, c := range []struct {
		name, inside string
		pixels       []pixel
	}{
		{"rect", `<rect x="10" y="10" width="20" height="10" fill="red"/>`, []pixel{{15, 15, red}, {5, 15, white}, {15, 25, white}}},
		{"round corner", `<rect x="10" y="10" width="20" height="20" rx="10" fill="#f00"/>`, []pixel{{20, 20, red}, {10, 10, white}, {28, 11, white}}},
		{"circle", `<circle cx="20" cy="20" r="10" fill="rgb(255,0,0)"/>`, []pixel{{20, 11, red}, {20, 8, white}, {12, 12, white}}},
		{"ellipse", `<ellipse cx="20" cy="20" rx="15" ry="5" fill="red"/>`, []pixel{{7, 20, red}, {20, 13, white}}},
		{"line", `<line x1="0" y1="20" x2="40" y2="20" stroke="red" stroke-width="4"/>`, []pixel{{20, 19, red}, {20, 24, white}}},
		{"no fill", `<rect x="10" y="10" width="20" height="20" fill="none" stroke="red" stroke-width="4"/>`, []pixel{{20, 20, white}, {10, 20, red}}},
		{"dashes", `<line x1="0" y1="20" x2="40" y2="20" stroke="red" stroke-width="4" stroke-dasharray="10"/>`, []pixel{{5, 20, red}, {15, 20, white}, {25, 20, red}, {35, 20, white}}},
		{"polygon", `<polygon points="0,0 40,0 0,40" fill="red"/>`, []pixel{{5, 5, red}, {35, 35, white}}},
		{"polyline", `<polyline points="0 20,20 20,20 40" fill="none" stroke="red" stroke-width="4"/>`, []pixel{{10, 20, red}, {20, 35, red}, {30, 20, white}}},
		{"path, relative", `<path d="m10 10h20v20h-20z" fill="red"/>`, []pixel{{20, 20, red}, {5, 20, white}}},
		{"path, numbers run together", `<path d="M10-0L30,0 30 40L10.0.5e1z" fill="red"/>`, []pixel{{28, 30, red}, {5, 20, white}}},
		{"path, arc with flags run together", `<path d="M10 20a10 10 0 0120 0z" fill="red"/>`, []pixel{{20, 15, red}, {20, 25, white}}},
		{"path, large arc", `<path d="M20 10A10 10 0 1 0 30 20L20 20z" fill="red"/>`, []pixel{{15, 25, red}, {25, 15, white}}},
		{"path, curves", `<path d="M0 40C0 0 40 0 40 40z" fill="red"/>`, []pixel{{20, 20, red}, {20, 5, white}}},
		{"path, quadratic", `<path d="M0 40Q20 0 40 40z" fill="red"/>`, []pixel{{20, 25, red}, {20, 15, white}}},
		{"transform", `<g transform="translate(10 10) scale(2)"><rect width="5" height="5" fill="red"/></g>`, []pixel{{18, 18, red}, {22, 22, white}, {5, 5, white}}},
		{"rotate about", `<rect x="20" y="0" width="4" height="20" transform="rotate(90 20 20)" fill="red"/>`, []pixel{{30, 22, red}, {22, 10, white}}},
		{"matrix", `<rect width="10" height="10" transform="matrix(1,0,0,1,20,20)" fill="red"/>`, []pixel{{25, 25, red}, {5, 5, white}}},
		{"inheritance and style", `<g fill="blue"><rect width="10" height="10" style="fill: red"/><rect x="20" width="10" height="10"/></g>`, []pixel{{5, 5, red}, {25, 5, blue}}},
		{"opacity", `<g opacity="0.5"><rect width="40" height="40" fill="black" opacity="0.5"/></g>`, []pixel{{5, 5, color.RGBA{191, 191, 191, 255}}}},
		{"clip", `<defs><clipPath id="c"><rect width="20" height="40"/></clipPath></defs><g clip-path="url(#c)"><rect width="40" height="40" fill="red"/></g><rect x="30" y="30" width="9" height="9" fill="blue"/>`,
			[]pixel{{10, 10, red}, {25, 10, white}, {35, 35, blue}}},
		{"clipped text", `<defs><clipPath id="c"><rect width="1" height="1"/></clipPath></defs><g clip-path="url(#c)"><text x="0" y="39" font-size="40">H</text></g>`,
			[]pixel{{8, 20, white}}},
		{"gradient", `<defs><linearGradient id="g"><stop stop-color="red"/></linearGradient></defs><rect width="40" height="40" fill="url(#g)"/>`, []pixel{{5, 5, red}}},
		{"not drawn", `<g display="none"><rect width="40" height="40"/></g><style>rect{fill:red}</style>`, []pixel{{5, 5, white}}},
	} {
		picture := drawn(t, c.inside)
		for _, p := range c.pixels {
			if got := picture.RGBAAt(p.x, p.y); !near(got, p.want) {
				t.Errorf("%s: pixel %d,%d is %v, want %v", c.name, p.x, p.y, got, p.want)
			}
		}
	}
}

func near(a, b color.RGBA) bool {
	d := func(x, y uint8) bool { return math.Abs(float64(x)-float64(y)) <= 3 }
	return d(a.R, b.R) && d(a.G, b.G) && d(a.B, b.B)
}

// inked is the bounding box of what is not white.
func inked(picture *image.RGBA) image.Rectangle {
	box := image.Rectangle{}
	for y := range picture.Rect.Dy() {
		for x := range picture.Rect.Dx() {
			if !near(picture.RGBAAt(x, y), white) {
				box = box.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	return box
}

func TestTextStandsAtItsAnchor(t *testing.T) {
	start := inked(drawn(t, `<text x="20" y="20" font-size="10">HH</text>`))
	middle := inked(drawn(t, `<text x="20" y="20" font-size="10" text-anchor="middle">HH</text>`))
	end := inked(drawn(t, `<text x="20" y="20" font-size="10" text-anchor="end">HH</text>`))
	if start.Min.X < 20 || end.Max.X > 21 || middle.Min.X >= 20 || middle.Max.X <= 20 || start.Max.Y != 20 {
		t.Errorf("start %v, middle %v, end %v", start, middle, end)
	}
	central := inked(drawn(t, `<text x="20" y="20" font-size="10" dominant-baseline="central">HH</text>`))
	if central.Min.Y >= 20 || central.Max.Y <= 20 {
		t.Errorf("central %v", central)
	}
	up := inked(drawn(t, `<text x="0" y="0" font-size="10" transform="translate(20 30) rotate(-90)">HHH</text>`))
	if up.Dy() <= up.Dx() || up.Max.Y > 31 || up.Max.X > 21 {
		t.Errorf("turned up: %v", up)
	}
	bold := TextWidth("HHH", 10, true)
	if plain := TextWidth("HHH", 10, false); plain < 15 || plain > 30 || bold < plain {
		t.Errorf("widths %g and %g", plain, bold)
	}
}

// TestAMissingGlyphIsSeen: the fonts lack these, and nothing at all would be worse than a box.
func TestAMissingGlyphIsSeen(t *testing.T) {
	if box := inked(drawn(t, `<text x="5" y="30" font-size="20">★</text>`)); box.Dx() < 4 {
		t.Errorf("only %v is drawn", box)
	}
}

func TestWhatIsNotAPictureIsAnError(t *testing.T) {
	for _, text := range []string{"", "<svg", "<html/>", `<svg width="10"/>`, `<svg width="1e9" height="1e9"/>`, `<svg width="NaN" height="1"/>`, `<svg width="-5" height="5"/>`} {
		if _, err := Rasterise(text, 2); err == nil || !strings.HasPrefix(err.Error(), "svg: ") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestThePaletteKeepsTheColours: flat areas keep their exact colour, however many shades there are.
func TestThePaletteKeepsTheColours(t *testing.T) {
	picture := image.NewRGBA(image.Rect(0, 0, 400, 400))
	for y := range 400 {
		for x := range 400 {
			c := color.RGBA{uint8(x), uint8(y), uint8(x + y), 255} // many colours
			if y < 200 {
				c = color.RGBA{0, 114, 178, 255}
			}
			if y < 10 && x < 10 {
				c = red
			}
			picture.SetRGBA(x, y, c)
		}
	}
	out := palettise(picture)
	if len(out.Palette) > 256 {
		t.Errorf("%d colours", len(out.Palette))
	}
	worst := 0.0
	for y := range 400 {
		for x := range 400 {
			r, g, b, _ := out.At(x, y).RGBA()
			want := picture.RGBAAt(x, y)
			got := color.RGBA{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8), 255}
			if y < 200 && got != want && got != red {
				t.Fatalf("pixel %d,%d is %v, want %v", x, y, got, want)
			}
			worst = max(worst, math.Abs(float64(got.R)-float64(want.R)))
		}
	}
	if worst > 90 {
		t.Errorf("a red channel is off by %g", worst)
	}
}

func TestWritingIsDeterministicAndEscaped(t *testing.T) {
	write := func() string {
		w := New(100, 50, `a "title" <b>`)
		w.Text(1.005, -0.001, 12, "", "x < y & \x00")
		w.Path((&Data{}).Move(0, 0).Line(1.0/3, 2).Close(), `fill="red"`)
		return w.String()
	}
	want := `<svg xmlns="http://www.w3.org/2000/svg" width="100" height="50" viewBox="0 0 100 50" role="img" font-family="system-ui,sans-serif">
<title>a &quot;title&quot; &lt;b&gt;</title>
<rect x="0" y="0" width="100" height="50" fill="#fff"/>
<text x="1" y="0" font-size="12">x &lt; y &amp; �</text>
<path d="M0 0L0.33 2Z" fill="red"/>
</svg>
`
	if got := write(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	data, err := PNG(write(), 2)
	if err != nil {
		t.Fatal(err)
	}
	if decoded, err := png.Decode(bytes.NewReader(data)); err != nil || decoded.Bounds() != image.Rect(0, 0, 200, 100) {
		t.Errorf("%v, %v", decoded.Bounds(), err)
	}
}

func FuzzRasterise(f *testing.F) {
	f.Add(`<svg width="20" height="20"><path d="M1 1a5 5 0 0 1 3 3zQ1 1" stroke="red" stroke-dasharray="1 2"/></svg>`)
	f.Add(`<svg width="20" height="20"><g transform="rotate(30) scale(-1 0)"><text x="1e300" y="NaN" stroke="red">a</text></g></svg>`)
	f.Add(`<svg width="9" height="9"><circle r="1e30" stroke="red" stroke-width="1e9"/><rect width="1e20" height="5" rx="1e19"/></svg>`)
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 2000 || strings.Count(text, "svg") > 4 {
			return
		}
		slow := time.AfterFunc(5*time.Second, func() { panic("it takes too long: " + text) })
		defer slow.Stop()
		_, _ = Rasterise(text, 1)
	})
}
