package config

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// Where we differ from Kafka's clients, and why. Everything else is accepted or refused as Kafka does it, and in its
// words.
var differs = []struct{ properties, why string }{
	{`(linger|max\.block|metadata\.max\.age|partitioner\.availability\.timeout|re\w+\.backoff(\.max)?)\.ms=99999999999$`, "longer than our clocks are for, 24 days"},
	{`^consumer\tgroup\.instance\.id=[-\w]+$`, "static members are members: in Kafka such a consumer ignores its name"},
	{`(heartbeat\.interval|session\.timeout)\.ms=-`, "a negative time, which Kafka notices later if at all"},
	{`partition\.assignment\.strategy=\t`, "no assignor: Kafka notices when it joins"},
	{`partition\.assignment\.strategy=range\tgroup\.id=g`, "assignors may be meant by their protocol's names"},
}

// differsIn is why we differ, "" where we do not.
func differsIn(words string) string {
	for _, d := range differs {
		if regexp.MustCompile(d.properties).MatchString(words) {
			return d.why
		}
	}
	return ""
}

// What Kafka's own classes refused is refused, with their words; what they took is taken.
func TestRefusalsAreKafkas(t *testing.T) {
	raw, err := os.ReadFile("testdata/kafka-4.3.1-refusals.tsv")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(raw)), "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		words, kafka, _ := strings.Cut(line, "\t=>\t")
		fields := strings.Split(words, "\t")
		given := map[string]any{}
		for _, f := range fields[1:] {
			name, value, _ := strings.Cut(f, "=")
			given[name] = value
		}
		var pr *Problem
		if fields[0] == "producer" {
			_, pr = ParseProducer(given)
		} else {
			_, pr = ParseConsumer(given)
		}
		got := "accepted"
		if pr != nil {
			got = pr.Text
		}
		class, text, refused := strings.Cut(kafka, ": ")
		same := refused && strings.HasSuffix(got, "Kafka's "+class+" says: "+text) || !refused && got == "accepted"
		if why := differsIn(words); why != "" {
			if same {
				t.Errorf("%s: is as in Kafka, though it is said to differ (%s)", words, why)
			}
			continue
		}
		if !same {
			t.Errorf("%s\n got: %s\nwant: %s", words, got, kafka)
		}
	}
}
