package charts

import (
	"fmt"
	"slices"
	"strings"

	"kafkalab/charts/svg"
	"kafkalab/kafkasim/view"
)

// wordsPerFrame is how many sentences stand under a replay.
const wordsPerFrame = 4

// maxReplay is how many bytes the spec of a picture with a slider may have before moments are merged: ten of them and
// the runtime fit a page of 1.2 MB.
const maxReplay = 64 << 10

// Replay draws the cluster with a slider over everything that has happened: one frame for each moment
// at which something changed, with what happened in words under it. A long story is thinned to what a slider can
// show, at most 400 frames and 64 KB, by merging quiet moments (copies, acknowledgements, watermarks); crashes,
// elections, truncations and the caller's commands keep frames of their own as far as there is room, and the title
// says how many moments there were. With topic names it shows those topics only.
func Replay(src view.Source, topic ...string) *Picture {
	now, trace := look("Replay", src)
	topics := topicsOf("Replay", now, topic)
	all, keys := moments(trace), keysOf(trace)
	var t telling
	for most := maxFrames; ; {
		b := newBoard(trace)
		b.keys = keys
		b.acksOf(now)
		t = tellStory(b, trace, topics, all, most, now.Now)
		size := len(specText(KindReplay, t.spec))
		if size <= maxReplay || most <= fewFrames {
			break
		}
		most = max(fewFrames, min(len(t.spec.Frames), most)*maxReplay/size*15/16)
	}
	spec := t.spec
	height := controlsRow + spec.Height + spec.WordLines*wordLine + 8
	p := newPicture(KindReplay, t.story.describe(spec, t.b, topics, len(all)), height, spec)
	list := t.story.pick(maxHighlights)
	p.width, p.height = spec.Width, spec.Height+int(storyHeight(list))
	p.draw = func(string) (string, error) {
		last := sceneAt(spec, len(spec.Frames)-1)
		return drawScene(last, p.envelope.Alt, storyHeight(list), func(w *svg.Writer, top float64) { drawStory(w, top, list) }), nil
	}
	return p
}

// fewFrames is how many frames a replay keeps, however large each of them is.
const fewFrames = 40

// telling is a story told in frames.
type telling struct {
	spec  *ReplaySpec
	b     *board // as it is at the end
	story *highlights
}

// tellStory folds the trace into at most most frames; b is the board before its first change.
func tellStory(b *board, trace *view.Trace, topics []string, all []group, most int, now int64) telling {
	groups := thin(all, most)
	merged := ""
	if len(groups) < len(all) {
		merged = fmt.Sprintf(", %d moments in %s", len(all), count(len(groups), "step", "steps"))
	}
	r := newRecorder("Replay"+b.omitted(topics)+merged, b, topics)
	story := &highlights{}
	for i, g := range groups {
		story.closed = i == 0 && len(groups) > 1 // the brokers coming up are no news
		words := r.tell(b, trace.Changes[g.from:g.to], story)
		r.frame(b, trace.Changes[g.to-1].At, words)
		r.spec.Frames[i].Event = g.loud > 0 && i > 0
	}
	if len(groups) == 0 {
		r.frame(b, now, []string{"Nothing has happened yet."})
	}
	return telling{r.finish(), b, story}
}

// tell folds some changes into the board and describes them.
func (r *recorder) tell(b *board, changes []view.Change, story *highlights) []string {
	var sentences []sentence
	threshold := quietBelow(len(changes))
	untold := 0
	for i := range changes {
		c := &changes[i]
		loud := b.loudness(c)
		switch {
		case !r.concerns(c):
		case loud < threshold:
			untold++
		default:
			s := sentence{text: b.say(c), loud: loud, at: c.At}
			sentences = append(sentences, s)
			story.add(s)
		}
		b.apply(c)
	}
	words := tell(sentences, wordsPerFrame-min(untold, 1))
	return andQuieter(words, untold)
}

// quietBelow is how loud one of n changes of a frame must be to be told: nobody reads them all, and a long history has
// millions.
func quietBelow(n int) int { return pick(n > 60, 2, 0) }

func andQuieter(words []string, untold int) []string {
	if untold > 0 {
		words = append(words, "… and "+count(untold, "quieter change", "quieter changes")+".")
	}
	return words
}

// concerns says whether a change is about what the picture shows.
func (r *recorder) concerns(c *view.Change) bool {
	return c.Partition < 0 || slices.Contains(r.shown, c.Partition)
}

// group is a run of changes that make one frame.
type group struct {
	from, to int
	loud     int // how loud its loudest change is, 0 for quiet
}

// moments cuts a trace into its moments. What was before the first command or record (the brokers coming
// up) is one moment.
func moments(trace *view.Trace) []group {
	boot := 0
	for i, c := range trace.Changes {
		if c.Kind == view.Command || c.Kind == view.Sent {
			boot = i
			break
		}
	}
	var list []group
	for i := range trace.Changes {
		c := &trace.Changes[i]
		sameMoment := i > 0 && (i < boot || (i != boot && trace.Changes[i-1].At == c.At))
		if !sameMoment {
			list = append(list, group{from: i})
		}
		last := &list[len(list)-1]
		last.to = i + 1
		last.loud = max(last.loud, loudnessOf(c))
	}
	return list
}

// loudnessOf is a change's loudness as far as the change alone tells it, 0 below 2.
func loudnessOf(c *view.Change) int {
	if c.Kind == view.PartitionState {
		return 3
	}
	loud := (*board)(nil).loudness(c)
	return pick(loud < 2, 0, loud)
}

// thin merges neighbouring moments until at most most are left: the quiet ones, and of the loud ones those that are
// less loud when there are too many. When the loudest alone are too many, all are merged evenly.
func thin(list []group, most int) []group {
	if len(list) <= most {
		return list
	}
	const louder = 6 // than everything
	for level := 1; ; level++ {
		loud, runs := 0, 0
		for i, g := range list {
			if g.loud >= level {
				loud++
			} else if i == 0 || list[i-1].loud >= level {
				runs++
			}
		}
		if room := most - loud - runs; room >= 0 || level == louder {
			return mergeBelow(list, level, room)
		}
	}
}

// mergeBelow merges what is less loud than a level into room groups more than it must.
func mergeBelow(list []group, level, room int) []group {
	quiet := 0
	for _, g := range list {
		if g.loud < level {
			quiet++
		}
	}
	var out []group
	for i := 0; i < len(list); {
		end := i + 1
		if list[i].loud >= level {
			out = append(out, list[i])
		} else {
			for end < len(list) && list[end].loud < level {
				end++
			}
			out = append(out, merge(list[i:end], 1+room*(end-i)/quiet)...)
		}
		i = end
	}
	return out
}

// merge makes at most most groups of about equal size.
func merge(list []group, most int) []group {
	most = min(most, len(list))
	out := make([]group, 0, most)
	for k := range most {
		from, to := k*len(list)/most, (k+1)*len(list)/most
		g := group{from: list[from].from, to: list[to-1].to}
		for _, merged := range list[from:to] {
			g.loud = max(g.loud, merged.loud)
		}
		out = append(out, g)
	}
	return out
}

// maxHighlights is how many moments the still picture of a replay lists.
const maxHighlights = 10

// highlights gathers what a still picture can tell of a replay: the loud moments.
type highlights struct {
	list   []sentence
	closed bool
}

func (h *highlights) add(s sentence) {
	if !h.closed && s.text != "" && s.loud >= 2 && len(h.list) < 10_000 {
		h.list = append(h.list, s)
	}
}

// pick keeps the loudest, in their order.
func (h *highlights) pick(most int) []sentence {
	list := slices.Clone(h.list)
	slices.SortStableFunc(list, func(a, b sentence) int { return b.loud - a.loud })
	list = list[:min(most, len(list))]
	slices.SortStableFunc(list, func(a, b sentence) int { return int(min(max(a.at-b.at, -1), 1)) })
	return list
}

func (h *highlights) describe(spec *ReplaySpec, b *board, topics []string, moments int) string {
	first, last := spec.Frames[0].T, spec.Frames[len(spec.Frames)-1].T
	var out strings.Builder
	steps := ""
	if moments > len(spec.Frames) {
		steps = " in " + count(len(spec.Frames), "step", "steps")
	}
	fmt.Fprintf(&out, "Replay of %s%s from %s to %s.", count(max(moments, len(spec.Frames)), "moment", "moments"), steps, moment(first), moment(last))
	for _, s := range h.pick(6) {
		fmt.Fprintf(&out, " At %s: %s", ms(s.at), s.text)
	}
	return out.String() + " " + b.describe("At the end", topics)
}

func storyHeight(list []sentence) float64 {
	if len(list) == 0 {
		return 0
	}
	return float64(30 + len(list)*wordLine)
}

// drawStory lists the highlights under the still picture, in place of the slider.
func drawStory(w *svg.Writer, top float64, list []sentence) {
	if len(list) == 0 {
		return
	}
	w.Line(0, top+6, pictureWidth, top+6, `stroke="`+line+`"`)
	w.Text(2, top+23, 12, `font-weight="bold" fill="`+ink+`"`, "What happened (the picture shows the end)")
	right := 64.0 // of the times
	for _, s := range list {
		right = max(right, 2+widthOf(ms(s.at), 11.5, false))
	}
	for i, s := range list {
		y := top + 23 + float64((i+1)*wordLine)
		w.Text(right, y, 11.5, `text-anchor="end" fill="`+inkSoft+`"`, ms(s.at))
		colour := ink
		if strings.HasPrefix(s.text, "Lost: ") {
			colour = alarm
		}
		w.Text(right+12, y, 11.5, `fill="`+colour+`"`, fit(s.text, 11.5, false, pictureWidth-right-12))
	}
}
