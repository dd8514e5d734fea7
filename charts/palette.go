package charts

// The Okabe–Ito palette: told apart by people with any of the common colour blindnesses, in this order.
// Every colour also has a letter or a shape beside it.
var palette = [...]string{"#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00"}

// paletteText are darker variants with a contrast of at least 4.5 on white, for text and thin lines.
var paletteText = [...]string{"#005A8C", "#8A5F00", "#00694D", "#8F4A72", "#2A6F97", "#A34700"}

// letterInk is the ink of a letter on a cell of that colour.
var letterInk = [...]string{"#fff", "#1F1F1F", "#fff", "#1F1F1F", "#1F1F1F", "#fff"}

const (
	ink       = "#1F1F1F"
	inkSoft   = "#5F6368"
	inkFaint  = "#8A8F94"
	line      = "#C9CDD2"
	paper     = "#FFFFFF"
	boxFill   = "#FAFBFC"
	boxDown   = "#ECEDEF"
	blue      = "#0072B2" // the high watermark
	alarm     = "#C1440E" // lost, down, out of the ISR
	star      = "#E69F00"
	starEdge  = "#8A5F00"
	noKey     = "#B4B9BF"
	quietFill = "rgba(128,128,128,.16)"
)

// letterOf is the letter of a key by its index: A to Z, a to z, then #.
func letterOf(key int64) string {
	switch {
	case key < 26:
		return string(rune('A' + key))
	case key < 52:
		return string(rune('a' + key - 26))
	}
	return "#"
}

func fillOf(key int64) (fill, text, onFill string) {
	if key < 0 {
		return noKey, inkSoft, ink
	}
	i := int(key) % len(palette)
	return palette[i], paletteText[i], letterInk[i]
}
