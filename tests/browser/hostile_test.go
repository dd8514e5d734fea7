package browser

import (
	"encoding/json"
	"fmt"
	"html"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kafkalab/charts"
	"kafkalab/charts/assets"
	"kafkalab/charts/echarts/echartstest"
)

// attacks are texts that run something when they are taken for anything but text.
var attacks = []string{
	`<img src=x onerror="(globalThis.ran??=[]).push('img')">`,
	`</script><script>(globalThis.ran??=[]).push('script')</script>`,
	`<svg onload="(globalThis.ran??=[]).push('svg')"><a xlink:href="javascript:ran=['a']">x</a></svg>`,
	`{a|<b onmouseover="ran=['rich']">x</b>}`,
	`javascript:(globalThis.ran??=[]).push('url')`,
}

// hostileCharts fills every text of the samples with each attack, and adds what the schema must refuse.
func hostileCharts(t *testing.T) (all []sample, kinds []string) {
	t.Helper()
	add := func(name, kind string, envelope map[string]any) {
		all, kinds = append(all, sample{name, envelope}), append(kinds, kind)
	}
	for _, attack := range attacks {
		for _, s := range samples(t, "high-watermark", "replay", "quorum-cluster", "page") {
			var spec any
			json.Unmarshal([]byte(s.envelope["spec"].(string)), &spec)
			data, _ := json.Marshal(poison(spec, attack, ""))
			s.envelope["spec"], s.envelope["alt"] = string(data), attack
			add(s.name+" with "+attack, s.envelope["kind"].(string), s.envelope)
		}
	}
	for _, change := range []string{
		`"tooltip":{"formatter":"<img src=x onerror=ran=['formatter']>"}`, `"__proto__":{"title":"polluted"}`,
		`"constructor":{"prototype":{"x":1}}`, `"title":{"toString":"x"}`, `"series":[{"renderItem":"alert(1)"}]`,
		`"title":["<img src=x onerror=ran=['list']>"]`, `"xMin":"<script>"`, `"panels":"x"`,
	} {
		s := samples(t, "lag")[0]
		s.envelope["spec"] = strings.TrimSuffix(s.envelope["spec"].(string), "}") + "," + change + "}" // the last of two fields wins
		s.envelope["alt"] = attacks[0]
		add(change, "png", s.envelope)
	}
	for _, spec := range []string{"NaN", "Infinity", "null", "[]", `"x"`, `{"title":NaN}`, `{"series":[{"points":[[NaN,1]]}]}`, strings.Repeat("[", 100_000)} {
		s := samples(t, "lag")[0]
		s.envelope["spec"], s.envelope["alt"] = spec, attacks[2]
		add("spec "+spec[:min(len(spec), 40)], "png", s.envelope)
	}
	for _, envelope := range []string{`null`, `7`, `"x"`, `[]`, `{}`, `{"v":2}`, `{"v":1,"kind":"pie","alt":"<img src=x onerror=ran=['alt']>"}`,
		`{"__proto__":{"v":1},"alt":{"toString":1}}`} {
		var v any
		json.Unmarshal([]byte(envelope), &v)
		m, ok := v.(map[string]any)
		if !ok {
			m = map[string]any{"raw": v}
		}
		add(envelope, "png", m)
	}
	random := rand.New(rand.NewPCG(1, 2)) // the same charts in every run
	for _, name := range []string{"high-watermark", "replay", "page", "messages", "cluster", "quorum-cluster", "log", "segments", "quorum", "batches",
		"assignment", "transaction", "widget-steps", "isr-size", "lag", "latency", "throughput", "compare"} {
		for i := range 6 {
			s := samples(t, name)[0]
			var spec any
			json.Unmarshal([]byte(s.envelope["spec"].(string)), &spec)
			for range 1 + i%3 {
				spec = mutate(random, spec)
			}
			data, err := json.Marshal(spec)
			if err != nil {
				t.Fatal(err)
			}
			s.envelope["spec"], s.envelope["alt"] = strings.ReplaceAll(string(data), `"POLLUTE"`, `"__proto__"`), attacks[i%len(attacks)]
			add(fmt.Sprintf("%s, mutation %d", name, i), "?", s.envelope) // drawn or shown as its picture, but never nothing
		}
	}
	return all, kinds
}

// mutate changes one place of a value: another type, a number out of range, markup, too much of it, a field more.
func mutate(random *rand.Rand, v any) any {
	switch v := v.(type) {
	case map[string]any:
		keys := slices.Sorted(maps.Keys(v))
		if len(keys) == 0 || random.IntN(6) == 0 {
			v[[]string{"POLLUTE", "constructor", "formatter", "href", "onload", "style"}[random.IntN(6)]] = odd(random)
			return v
		}
		k := keys[random.IntN(len(keys))]
		v[k] = mutate(random, v[k])
		return v
	case []any:
		if len(v) == 0 || random.IntN(5) == 0 {
			return odd(random)
		}
		i := random.IntN(len(v))
		v[i] = mutate(random, v[i])
		return v
	}
	return odd(random)
}

// odd is a value that stands wrong almost everywhere.
func odd(random *rand.Rand) any {
	switch random.IntN(9) {
	case 0:
		return nil
	case 1:
		return -1e300
	case 2:
		return map[string]any{"toString": "x", "POLLUTE": map[string]any{"polluted": true}}
	case 3:
		return strings.Repeat("x", 400)
	case 4:
		return slices.Repeat([]any{0}, 30_000)
	case 5:
		return []any{map[string]any{}, nil, "NaN"}
	case 6:
		return true
	case 7:
		return 0.5
	}
	return attacks[random.IntN(len(attacks))]
}

// poison puts the attack into every free text of a spec; words of the schema's own stay, or it would be
// refused before anything is drawn.
func poison(v any, attack, key string) any {
	switch v := v.(type) {
	case map[string]any:
		for k, item := range v {
			v[k] = poison(item, attack, k)
		}
	case []any:
		for i, item := range v {
			v[i] = poison(item, attack, key)
		}
	case string:
		switch key {
		case "line", "tone", "state", "role", "k", "f", "s", "d", "a", "as": // words of the schema's own
			return v
		}
		return attack
	}
	return v
}

func TestHostileChartsRunNothing(t *testing.T) {
	all, kinds := hostileCharts(t)
	hostile(t, all, kinds, assets.ECharts(), "figure.update(given, png)", "kafkalabECharts", false)
}

// hostileOptions are a learner's own charts as somebody else may have changed them: each type with each attack in
// every text, and with a few places changed.
func hostileOptions(t *testing.T) (all []sample, kinds []string) {
	t.Helper()
	random := rand.New(rand.NewPCG(3, 4))
	pictures := append(slices.Clone(attacks), "image://https://example.com/x.png", "https://example.com/x.png")
	for _, s := range echartstest.Samples() {
		if s.Code {
			continue // a page does not draw it
		}
		option := func() (v any) {
			json.Unmarshal([]byte(charts.Show(s.Chart).Envelope().Option), &v)
			return v
		}
		add := func(name string, v any) {
			data, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			text := strings.ReplaceAll(string(data), `"POLLUTE"`, `"__proto__"`)
			all = append(all, sample{s.Name + " with " + name, map[string]any{"v": 1, "id": "own", "h": 300, "alt": attacks[0], "option": text, "full": s.Full}})
			kinds = append(kinds, "?")
		}
		for _, attack := range pictures {
			v := poison(option(), attack, "").(map[string]any)
			for _, key := range []string{"link", "sublink", "image", "symbol", "icon"} {
				for _, part := range list(v["series"]) {
					part[key] = attack
					for _, item := range list(part["data"]) {
						item[key] = attack
					}
				}
				for _, part := range list(v["title"]) {
					part[key] = attack
				}
			}
			v["toolbox"] = map[string]any{"feature": map[string]any{"dataView": map[string]any{"title": attack, "lang": []any{attack, attack, attack}}}}
			v["tooltip"] = map[string]any{"formatter": attack, "renderMode": "html", "extraCssText": attack}
			add(attack, v)
		}
		for i := range 4 {
			v := option()
			for range 1 + i%2 {
				v = mutate(random, v)
			}
			add(fmt.Sprint("mutation ", i), v)
		}
	}
	return all, kinds
}

// list is a part of an option that may be one object or several.
func list(v any) (all []map[string]any) {
	switch v := v.(type) {
	case map[string]any:
		return []map[string]any{v}
	case []any:
		for _, item := range v {
			if m, ok := item.(map[string]any); ok {
				all = append(all, m)
			}
		}
	}
	return all
}

// An exported page draws a learner's own options as text: nothing of them runs, leads out or is fetched, even without the
// page's policy. ECharts itself may stumble over a changed option; something is shown all the same.
func TestHostileOwnChartsRunNothing(t *testing.T) {
	all, kinds := hostileOptions(t)
	hostile(t, all, kinds, assets.EChartsFull(), "figure.updateECharts(given, png, true)", "kafkalabEChartsFull", true)
}

// hostile draws charts on a page without any policy and lets a script hover and click on them.
func hostile(t *testing.T, all []sample, kinds []string, library, draw, global string, stumbles bool) {
	t.Helper()
	var page strings.Builder
	page.WriteString("<!DOCTYPE html><meta charset=utf-8><title>hostile</title>\n")
	var names []string
	for _, s := range all {
		data, err := json.Marshal(s.envelope)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, s.name)
		page.WriteString(`<div class="host"><script type="application/json">` + string(data) + "</script></div>\n")
	}
	page.WriteString("<script>" + library + "</script><script>" + assets.Script() + "</script>")
	page.WriteString(`<script>const png = ` + "`" + html.EscapeString(attacks[0]) + "`" + `;
	for (const host of document.querySelectorAll(".host")) {
		const data = JSON.parse(host.textContent);
		const figure = kafkalabCharts.create(host.appendChild(document.createElement("div")), { loadECharts: async () => ` + global + ` });
		const given = "raw" in data ? data.raw : data;
		` + draw + `;
	}</script>`)
	path := filepath.Join(t.TempDir(), "hostile.html")
	if err := os.WriteFile(path, []byte(page.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	script(t, "hostile", map[string]any{"page": fileURL(path), "kinds": kinds, "names": names, "stumbles": stumbles})
}
