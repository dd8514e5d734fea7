package config

import (
	"math"
	"regexp"
	"strconv"
	"strings"
)

// Reset says where a consumer without a position starts (auto.offset.reset, C-30). From ResetByDuration on it is
// by duration: ResetByDuration + D is D ms before now.
type Reset int64

// The reset policies.
const (
	ResetLatest Reset = iota
	ResetEarliest
	ResetNone
	ResetByDuration
)

// Duration is how many ms before now a policy by duration starts; false for the others.
func (r Reset) Duration() (int64, bool) { return int64(r - ResetByDuration), r >= ResetByDuration }

// String is the policy as a properties file has it.
func (r Reset) String() string {
	if d, ok := r.Duration(); ok {
		return byDuration + "PT" + strconv.FormatFloat(float64(d)/1000, 'f', -1, 64) + "S"
	}
	return [...]string{"latest", "earliest", "none"}[r]
}

const (
	byDuration  = "by_duration:"
	resetWanted = "latest, earliest, none or by_duration:D with an ISO-8601 duration that is not negative, such as by_duration:PT1H"
)

// isoDuration is what java.time.Duration.parse takes.
var isoDuration = regexp.MustCompile(`(?i)^([-+]?)P(?:([-+]?\d+)D)?(T(?:([-+]?\d+)H)?(?:([-+]?\d+)M)?(?:([-+]?\d+)(?:[.,](\d{0,9}))?S)?)?$`)

// parseReset reads a policy. A duration may have more digits than ms; they are cut off, as Kafka does.
func parseReset(s string) (Reset, bool) {
	for r := ResetLatest; r <= ResetNone; r++ {
		if s == r.String() {
			return r, true
		}
	}
	d, ok := ParseDuration(strings.TrimPrefix(s, byDuration))
	if !ok || !strings.HasPrefix(s, byDuration) || d < 0 || d > 1e15 {
		return 0, false
	}
	return ResetByDuration + Reset(math.Floor(d+1e-3)), true
}

// ParseDuration reads an ISO-8601 duration as java.time.Duration does, in ms: PT1H, P2DT3M, -PT0.5S.
func ParseDuration(s string) (ms float64, ok bool) {
	m := isoDuration.FindStringSubmatch(s)
	if m == nil || len(m[2]) == 0 && len(m[3]) < 2 {
		return 0, false
	}
	total := 0.0
	for i, seconds := range [...]float64{2: 86400, 4: 3600, 5: 60, 6: 1} {
		if seconds == 0 || m[i] == "" {
			continue
		}
		n, err := strconv.ParseFloat(m[i], 64)
		if err != nil {
			return 0, false
		}
		total += n * seconds
	}
	if m[7] != "" {
		part, _ := strconv.ParseFloat("0."+m[7], 64)
		total += math.Copysign(part, total)
	}
	if m[1] == "-" {
		total = -total
	}
	return total * 1000, true
}

// Selector is who decides which replica a consumer reads from (replica.selector.class, C-50).
type Selector uint8

// The selectors.
const (
	SelectLeader       Selector = iota // null, or LeaderSelector
	SelectLeaderByName                 // … the same by its class
	SelectByRack                       // RackAwareReplicaSelector
)

// selectors are their names, in the order of the constants.
var selectors = []string{"null", "org.apache.kafka.common.replica.LeaderSelector", "org.apache.kafka.common.replica.RackAwareReplicaSelector"}

// CheckConsumer refuses what consumers of a version could not do.
func (v Version) CheckConsumer(given map[string]any) *Problem {
	if v < V4_0 && strings.HasPrefix(text(given["auto.offset.reset"]), byDuration) {
		return problem("auto.offset.reset=%s: Kafka %s has latest, earliest and none; by_duration came with 4.0 (KIP-1106)", text(given["auto.offset.reset"]), v)
	}
	if v < V2_4 && text(given["client.rack"]) != "" && given["client.rack"] != nil {
		return problem("client.rack: consumers of Kafka %s read from leaders only; followers answer since 2.4 (KIP-392)", v)
	}
	if v < V4_0 && text(given["group.protocol"]) == "consumer" {
		return problem("group.protocol=consumer: Kafka %s has the classic protocol only; the consumer protocol came with 4.0 (KIP-848)", v)
	}
	return nil
}
