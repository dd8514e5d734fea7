package echarts

import (
	"os"
	"strings"
	"testing"

	"kafkalab/charts/echarts/echartstest"
	"kafkalab/charts/svg"
)

// TestEveryTypeOfGoEChartsIsDrawn draws each type that ECharts draws alone: its texts stand in the picture, and its
// data leave marks there.
func TestEveryTypeOfGoEChartsIsDrawn(t *testing.T) {
	for _, sample := range echartstest.Samples() {
		t.Run(sample.Name, func(t *testing.T) {
			built, err := Build(sample.Chart)
			if err != nil {
				t.Fatal(err)
			}
			if built.Full != sample.Full || (len(built.Functions) > 0) != sample.Code {
				t.Errorf("full %v, functions %v; want %v, %v", built.Full, built.Functions, sample.Full, sample.Code)
			}
			picture, err := Still(built, 820, "")
			if err != nil {
				t.Fatal(err)
			}
			for _, says := range sample.Says {
				if !strings.Contains(picture, says) {
					t.Errorf("%q is not in the picture", says)
				}
			}
			bare := built
			bare.Option = strings.NewReplacer(`"data":[{`, `"data":[`+map[bool]string{true: `{"name":""}`}[sample.Name == "tree"]+`],"x":[{`, `"nodes":[{`, `"nodes":[],"x":[{`, `"data":[[`, `"data":[],"x":[[`, `"links":[{`, `"links":[],"y":[{`).Replace(built.Option)
			empty, err := Still(bare, 820, "")
			if err != nil {
				t.Fatal(err)
			}
			if len(picture) <= len(empty)+50 {
				t.Errorf("%d bytes with data, %d without", len(picture), len(empty))
			}
			if again, err := Still(built, 820, ""); err != nil || again != picture {
				t.Errorf("the second drawing differs: %v", err)
			}
			png, err := svg.PNG(picture, 2)
			if err != nil {
				t.Fatal(err)
			}
			if dir := os.Getenv("KAFKALAB_LOOK"); dir != "" {
				os.WriteFile(dir+"/show-"+sample.Name+".png", png, 0o644)
				os.WriteFile(dir+"/show-"+sample.Name+".svg", []byte(picture), 0o644)
			}
		})
	}
}
