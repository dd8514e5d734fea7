package charts

import (
	"strings"

	"kafkalab/charts/echarts"
	"kafkalab/charts/svg"
)

// Still draws the still picture of a chart as it travels, as SVG: what a page shows where nothing can run. The
// chart is checked like any other. A picture that steps is drawn as it stands at the end, with a list of its
// events.
func Still(envelope []byte) (string, error) {
	e, spec, err := ParseEnvelope(envelope)
	if err != nil {
		return "", err
	}
	switch spec := spec.(type) {
	case *CurveSpec:
		return echarts.Curve(e.Spec, curveWidth, e.H, e.Alt)
	case *DrawingSpec:
		var list []sentence
		if len(spec.Frames) > 1 {
			h := &highlights{}
			for _, f := range spec.Frames {
				h.addWords(f.T, f.Words, f.Event)
			}
			list = h.pick(maxHighlights)
		}
		return drawDrawing(spec, e.Alt, list), nil
	case *ReplaySpec:
		h := &highlights{}
		for _, f := range spec.Frames {
			h.addWords(f.T, f.Words, f.Event)
		}
		list := h.pick(maxHighlights)
		return drawScene(sceneAt(spec, len(spec.Frames)-1), e.Alt, storyHeight(list), func(w *svg.Writer, top float64) { drawStory(w, top, list) }), nil
	}
	return "", nil
}

// addWords adds the sentences of an event, as loud as they sound.
func (h *highlights) addWords(t float64, words []string, event bool) {
	for _, text := range words {
		if event && !strings.HasPrefix(text, "…") {
			loud := 3
			if strings.HasPrefix(text, "Lost: ") || strings.Contains(text, "crashes") || strings.Contains(text, "is leader in epoch") {
				loud = 5
			}
			h.add(sentence{text: text, loud: loud, at: int64(t * 1000)})
		}
	}
}
