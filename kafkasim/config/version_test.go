package config

import "testing"

func TestVersionNames(t *testing.T) {
	for v, name := range map[Version]string{Oldest: "0.10", V0_11: "0.11", V1_1: "1.1", V2_0: "2.0", V2_1: "2.1", V2_2: "2.2", V2_4: "2.4", V2_5: "2.5",
		V2_6: "2.6", V2_7: "2.7", V3_0: "3.0", V3_1: "3.1", V3_3: "3.3", V3_5: "3.5", V3_6: "3.6", V3_7: "3.7", V4_0: "4.0", V4_1: "4.1", V4_3: "4.3", Newest: "4.4"} {
		if v.String() != name {
			t.Errorf("version %d is %s, want %s", v, v, name)
		}
		if got, ok := ParseVersion(name); !ok || got != v {
			t.Errorf("ParseVersion(%s) = %v %v", name, got, ok)
		}
	}
	if int(Newest) != len(versionNames) {
		t.Errorf("%d versions, %d names", Newest, len(versionNames))
	}
	for name, want := range map[string]Version{"0.10.2.2": Oldest, "4.3.1": V4_3, "3.9.2": V4_0.Before()} {
		if got, ok := ParseVersion(name); !ok || got != want {
			t.Errorf("ParseVersion(%s) = %v %v, want %v", name, got, ok, want)
		}
	}
	for _, name := range []string{"", "4", "4.31", "5.0", "0.9", "2.70"} {
		if v, ok := ParseVersion(name); ok {
			t.Errorf("ParseVersion(%q) = %v", name, v)
		}
	}
}

// P-36, P-80: defaults of former versions, and who wins.
func TestDefaultsByVersion(t *testing.T) {
	for _, c := range []struct {
		version string
		given   map[string]any
		want    string
	}{
		{"4.3", nil, "acks -1, idempotence true, linger 5, retries 2147483647"},
		{"3.9", nil, "acks -1, idempotence true, linger 0, retries 2147483647"},
		{"2.8", nil, "acks 1, idempotence false, linger 0, retries 2147483647"},
		{"2.0", nil, "acks 1, idempotence false, linger 0, retries 0"},
		{"2.0", map[string]any{"acks": "all", "linger.ms": 7}, "acks -1, idempotence false, linger 7, retries 0"},
		{"2.0", map[string]any{"enable.idempotence": true}, "acks -1, idempotence true, linger 0, retries 2147483647"},
	} {
		v, _ := ParseVersion(c.version)
		p, pr := ParseProducer(v.At(OwnerProducer, c.given))
		if pr != nil {
			t.Fatal(pr)
		}
		got := problem("acks %d, idempotence %v, linger %d, retries %d", p.Acks, p.EnableIdempotence, p.LingerMs, p.Retries).Text
		if got != c.want {
			t.Errorf("%s %v: %s, want %s", c.version, c.given, got, c.want)
		}
	}
	for name, want := range map[string]int64{"2.4": 10000, "2.5": 30000} {
		v, _ := ParseVersion(name)
		if b, _ := ParseBroker(v.At(OwnerBroker, nil)); b.ReplicaLagTimeMaxMs != want {
			t.Errorf("%s: replica.lag.time.max.ms %d", name, b.ReplicaLagTimeMaxMs)
		}
	}
}
