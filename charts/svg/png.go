package svg

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"image/png"
	"slices"
)

// PNG rasterises an SVG document and encodes it with a palette of at most 256 colours.
func PNG(text string, scale float64) ([]byte, error) {
	picture, err := Rasterise(text, scale)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.DefaultCompression}
	if err := encoder.Encode(&out, palettise(picture)); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// bucket gathers the pixels whose colours agree in the upper six bits of each channel.
type bucket struct {
	key              int
	count            int
	r, g, b          int // sums
	cr, cg, cb       int // the mean
	distance, chosen int // to the nearest chosen colour, and which that is
}

func keyOf(r, g, b uint8) int { return int(r>>2)<<12 | int(g>>2)<<6 | int(b>>2) }

// palettise maps an opaque picture to at most 256 colours. The pictures are flat areas with
// antialiased edges: the large areas get their exact colour, then the colours that would be missed most
// (many pixels, far from any chosen one) are added.
func palettise(picture *image.RGBA) *image.Paletted {
	buckets, index := histogram(picture)
	chosen := choose(buckets)
	palette := make(color.Palette, len(chosen))
	for i, b := range chosen {
		palette[i] = color.NRGBA{uint8(buckets[b].cr), uint8(buckets[b].cg), uint8(buckets[b].cb), 255}
	}
	out := image.NewPaletted(picture.Rect, palette)
	last, lastIndex := uint32(0), uint8(0)
	for i := range out.Pix {
		pixel := binary.LittleEndian.Uint32(picture.Pix[4*i:])
		if pixel != last || i == 0 { // most are as the one before
			last, lastIndex = pixel, uint8(buckets[index[keyOf(uint8(pixel), uint8(pixel>>8), uint8(pixel>>16))]].chosen)
		}
		out.Pix[i] = lastIndex
	}
	return out
}

// histogram counts the picture's colours; index finds a bucket by its key.
func histogram(picture *image.RGBA) (buckets []bucket, index []int32) {
	index = make([]int32, 1<<18)
	for i := range index {
		index[i] = -1
	}
	for i := 0; i < len(picture.Pix); {
		r, g, b := picture.Pix[i], picture.Pix[i+1], picture.Pix[i+2]
		run := 0
		for i < len(picture.Pix) && picture.Pix[i] == r && picture.Pix[i+1] == g && picture.Pix[i+2] == b {
			run++
			i += 4
		}
		key := keyOf(r, g, b)
		if index[key] < 0 {
			index[key] = int32(len(buckets))
			buckets = append(buckets, bucket{key: key})
		}
		at := &buckets[index[key]]
		at.count += run
		at.r, at.g, at.b = at.r+run*int(r), at.g+run*int(g), at.b+run*int(b)
	}
	for i := range buckets {
		b := &buckets[i]
		half := b.count / 2
		b.cr, b.cg, b.cb = (b.r+half)/b.count, (b.g+half)/b.count, (b.b+half)/b.count
	}
	return buckets, index
}

// choose picks the buckets that make the palette and tells every bucket its nearest one.
func choose(buckets []bucket) []int {
	order := make([]int, len(buckets))
	for i := range order {
		order[i] = i
		buckets[i].distance = 1 << 30
	}
	slices.SortFunc(order, func(a, b int) int {
		if d := buckets[b].count - buckets[a].count; d != 0 {
			return d
		}
		return buckets[a].key - buckets[b].key
	})
	var chosen []int
	add := func(pick int) {
		for i := range buckets {
			b, p := &buckets[i], &buckets[pick]
			dr, dg, db := b.cr-p.cr, b.cg-p.cg, b.cb-p.cb
			if d := 2*dr*dr + 4*dg*dg + 3*db*db; d < b.distance {
				b.distance, b.chosen = d, len(chosen)
			}
		}
		chosen = append(chosen, pick)
	}
	for _, pick := range order[:min(len(order), 96)] {
		add(pick)
	}
	for len(chosen) < min(256, len(buckets)) {
		pick, worst := -1, 0
		for _, i := range order {
			if harm := buckets[i].count * buckets[i].distance; harm > worst {
				pick, worst = i, harm
			}
		}
		if pick < 0 {
			break
		}
		add(pick)
	}
	return chosen
}
