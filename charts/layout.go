package charts

// The geometry of the cluster picture, in px. SCHEMA.md repeats it for the browser script.
const (
	pictureWidth = 820
	boxGap       = 12
	boxesTop     = 30 // below the title
	boxHeader    = 28
	boxMaxWidth  = 404
	rowHeight    = 62
	boxFoot      = 4
	boxPad       = 10
	ellipsisSlot = 14
	cellPitch    = 19
	cellWidth    = 16
	stripTop     = 20 // from the row's top
	stripHeight  = 24
	legendTop    = 8
	legendLine   = 18
	clientLine   = 17
	clientsTop   = 6
	wordLine     = 18
	controlsRow  = 36
	chipBase     = 24
	chipLetter   = 7.1
	chipMore     = 112 // for "and 120 more keys"
	maxKeyLines  = 2
	maxChipText  = 18

	controllerHeight  = 26
	controllerPitch   = 34
	controllerColumns = 3
	wireHead          = 24
	wireLine          = 18
)

// columnsFor is the number of broker boxes per row.
func columnsFor(brokers int) int {
	switch {
	case brokers <= 4:
		return max(brokers, 1)
	case brokers <= 6:
		return 3
	}
	return 4
}

// boxWidth is the width of one broker box.
func boxWidth(columns int) float64 {
	return float64(min((pictureWidth-boxGap*(columns-1))/columns, boxMaxWidth))
}

// cellSlots is how many cells a strip holds.
func cellSlots(columns int) int {
	return (int(boxWidth(columns)) - 2*boxPad - ellipsisSlot) / cellPitch
}

// nameLetters is how many letters of a partition's name have room in a box.
func nameLetters(width float64) int {
	if width < 250 {
		return 10
	}
	return 18
}

// boxHeight is the height of a box with so many replica rows.
func boxHeight(rows int) float64 { return float64(boxHeader + max(rows, 1)*rowHeight + boxFoot) }

// chip is one key of the legend with its place.
type chip struct {
	key  int64
	text string
	x    float64
	line int
}

// chips places the keys in at most maxKeyLines lines; what does not fit is counted in a last text
// with key -2. Widths are estimated from the number of characters, so that every reader agrees.
func chips(keys []string, width float64) (list []chip, lines int) {
	x, row := 0.0, 0
	for i, name := range keys {
		text := shorten(name, maxChipText)
		w := chipBase + chipLetter*float64(letters(text))
		if x > 0 && x+w > width-chipMore && row == maxKeyLines-1 {
			list = append(list, chip{key: -2, text: "and " + count(len(keys)-i, "more key", "more keys"), x: x, line: row})
			return list, row + 1
		}
		if x > 0 && x+w > width {
			x, row = 0, row+1
		}
		list = append(list, chip{int64(i), text, x, row})
		x += w
	}
	if len(keys) == 0 {
		return nil, 0
	}
	return list, row + 1
}

// letters counts the letters of a text; those that are wide in most fonts count twice.
func letters(text string) int {
	n := 0
	for _, r := range text {
		if n++; r >= 0x1100 {
			n++
		}
	}
	return n
}

// shorten keeps the beginning and the end of a long name: partitions differ at the end.
func shorten(name string, most int) string {
	if len(name) <= most {
		return name
	}
	r := []rune(name)
	if len(r) <= most {
		return name
	}
	tail := (most - 1) / 2
	return string(r[:most-1-tail]) + "…" + string(r[len(r)-tail:])
}

// measure fills in the sizes of a spec whose surroundings are known.
func (s *ReplaySpec) measure(clientLines int) {
	s.Columns = columnsFor(len(s.Brokers))
	s.Width = pictureWidth
	s.Cells = cellSlots(s.Columns)
	boxRows := (len(s.Brokers) + s.Columns - 1) / s.Columns
	_, keyLines := chips(s.Keys, pictureWidth)
	height := s.boxesAt() + float64(boxRows)*(boxHeight(s.Rows)+boxGap) + legendTop
	height += float64(keyLines+1)*legendLine + clientsTop
	height += float64(clientLines * clientLine)
	if len(s.Wire) > 0 {
		height += float64(wireHead + len(s.Wire)*wireLine)
	}
	s.Height = int(height)
}

// boxesAt is the y of the first row of boxes: below the title and the controllers.
func (s *ReplaySpec) boxesAt() float64 {
	return float64(boxesTop + (len(s.Controllers)+controllerColumns-1)/controllerColumns*controllerPitch)
}
