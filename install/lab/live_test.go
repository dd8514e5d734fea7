package lab

import (
	"encoding/json"
	"testing"

	"kafkalab/charts"
)

// A live picture shows itself, follows the cluster from a later cell, and stands there in full when that cell ends.
func TestALivePictureFollowsTheCluster(t *testing.T) {
	c := start(t)
	shown := c.Execute(`
c := kafkasim.Page()
charts.Live(c, charts.Page)
p := c.NewProducer("checkout", nil)`)
	if shown.Status() != "ok" {
		t.Fatal(shown.Transcript())
	}
	later := c.Execute(`
p.Send("orders", "user-1", "x")
for i := 0; i < 5; i++ { c.Ticks(10); time.Sleep(60 * time.Millisecond) }`)
	var ids []string
	pngs, lights := 0, 0
	for _, m := range append(shown.Of("display_data"), later.Of("update_display_data")...) {
		var content struct {
			Data      map[string]json.RawMessage `json:"data"`
			Transient struct {
				ID string `json:"display_id"`
			} `json:"transient"`
		}
		if err := json.Unmarshal(m, &content); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, content.Transient.ID)
		if content.Data[charts.MIMEChart] == nil {
			t.Errorf("no chart in %v", content.Data)
		}
		if content.Data["image/png"] != nil {
			pngs++
		} else {
			lights++
		}
	}
	if pngs != 2 || lights < 1 {
		t.Errorf("%d pictures in full and %d light ones, want one at first, some light ones, one at last", pngs, lights)
	}
	for _, id := range ids {
		if id == "" || id != ids[0] {
			t.Errorf("the display ids are %q", ids)
		}
	}
}
