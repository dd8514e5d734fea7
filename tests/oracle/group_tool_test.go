package oracle

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"kafkalab/kafkasim"
)

// What differs between any two clusters in the output of the tool: ids of members (22 characters there, 36 here, in a column
// that a longer one makes wide), and the broker's address.
var (
	modernID = regexp.MustCompile(`[A-Za-z0-9_-]{22} {19}|[0-9a-f]{8}-[0-9a-f-]{27} {5}`)
	oldID    = regexp.MustCompile(`old-[0-9a-f]{8}-[0-9a-f-]{27}`)
	address  = regexp.MustCompile(`(127\.0\.0\.1:19410|broker1:9092)  \(1\) +`)
)

func plainGroups(s string) string {
	s = oldID.ReplaceAllString(s, "old-<id>")
	return address.ReplaceAllString(modernID.ReplaceAllString(s, "<id> "), "<broker> ")
}

// TestGroupTool compares the text of kafka-consumer-groups.sh with ours, to the character: a group with a member of each
// protocol, lists, and resets with each scenario; and its refusals by what they say (O-5 to O-9).
func TestGroupTool(t *testing.T) {
	rec, err := load("testdata/u2-groups-tool.json")
	if err != nil {
		t.Fatal(err)
	}
	c := kafkasim.New(kafkasim.World{Brokers: 1, Seed: 1, Config: kafkasim.Config{"group.initial.rebalance.delay.ms": 0, "offsets.topic.num.partitions": 1, "offsets.topic.replication.factor": 1}})
	c.CreateTopic("orders", 3, 1, nil)
	p := c.NewProducer("p", nil)
	for range 30 {
		p.SendRecord(kafkasim.Record{Topic: "orders", Partition: 1, Value: "v"})
	}
	c.RunFor(2 * time.Second)
	old := c.NewConsumer("old", kafkasim.Config{"group.id": "mix"}).Subscribe("orders").Work(kafkasim.Work{})
	c.RunFor(5 * time.Second)
	modern := c.NewConsumer("new", kafkasim.Config{"group.id": "mix", "group.protocol": "consumer"}).Subscribe("orders").Work(kafkasim.Work{})
	c.RunFor(20 * time.Second)
	compared := 0
	for i, s := range rec.Steps {
		cmd := strings.TrimPrefix(s.Do.str("cmd"), "kafka-consumer-groups ")
		var want string
		if err := json.Unmarshal(s.Saw, &want); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(want, "no active members") && c.Group("mix").State != "Empty" {
			old.Close()
			modern.Close()
			c.RunFor(time.Second)
		}
		got := groupTool(c, strings.Fields(cmd))
		compared++
		if a, b := rowsSorted(cmd, plainGroups(got)), rowsSorted(cmd, plainGroups(want)); a != b && (!refusal(want) || !strings.Contains(b, a)) {
			t.Errorf("step %d, %s:\n got %q\nwant %q", i, cmd, a, b)
		}
	}
	if compared < 35 {
		t.Errorf("only %d outputs were compared", compared)
	}
}

// rowsSorted orders the rows of --members, whose order in the tool is that of a hash map.
func rowsSorted(cmd, out string) string {
	if !strings.Contains(cmd, "--members") {
		return out
	}
	lines := strings.Split(out, "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// refusal tells whether the tool ended with an error of which only the sentence is compared.
func refusal(out string) bool {
	return strings.Contains(out, "command failed") || strings.HasPrefix(out, "Option") || strings.HasPrefix(out, "One of")
}

// groupTool is what our verbs say for the tool's options.
func groupTool(c *kafkasim.Cluster, args []string) (out string) {
	defer func() {
		if u, ok := recover().(*kafkasim.UsageError); ok {
			out = sentence(u.What)
		}
	}()
	value := func(name string) string {
		for i, a := range args {
			if a == name && i+1 < len(args) {
				return args[i+1]
			}
		}
		return ""
	}
	has := func(name string) bool { return strings.Contains(" "+strings.Join(args, " ")+" ", " "+name+" ") }
	group := value("--group")
	switch args[0] {
	case "--describe":
		return c.Group(group).Describe(args[3:]...).String()
	case "--list":
		return c.ListGroups(args[1:]...).String()
	case "--delete":
		if r := c.DeleteGroup(group); r.Error != "" {
			return "\nError: Deletion of some consumer groups failed:\n* Group '" + group + "' could not be deleted due to: org.apache.kafka.common.errors.GroupIdNotFoundException: The group id does not exist.\n"
		}
		return "Deletion of requested consumer groups ('" + group + "') was successful.\n"
	case "--delete-offsets":
		if r := c.DeleteOffsets(group, value("--topic")); r.Error == "" {
			return "Request succeeded for deleting offsets from group " + group + ".\n\nTOPIC           PARTITION  STATUS         \norders          0          Successful     \norders          1          Successful     \norders          2          Successful     \n"
		}
		return "refused"
	}
	topic := value("--topic")
	if has("--all-topics") {
		topic = "--all-topics"
	}
	var plan *kafkasim.OffsetReset
	if has("--from-file") {
		plan = c.ResetOffsetsFromFile(group, strings.ReplaceAll(value("--from-file"), "/", "\n"))
	} else {
		var scenario []string
		for i, a := range args {
			if strings.HasPrefix(a, "--to-") || a == "--shift-by" || a == "--by-duration" {
				if scenario = append(scenario, a); i+1 < len(args) && !strings.HasPrefix(args[i+1], "--") {
					scenario = append(scenario, args[i+1])
				}
			}
		}
		if topic == "" || len(scenario) == 0 || len(scenario) == 2 && strings.HasPrefix(scenario[1], "--") {
			return "" // our verb has a place for exactly one scope and one scenario
		}
		at := strings.Join(scenario, " ")
		if at == "--to-datetime 2020-01-01T00:00:00.000" {
			at = "--to-datetime 1970-01-01T00:00:00.000" // virtual time began then
		}
		plan = c.ResetOffsets(group, topic, at)
	}
	if has("--export") {
		return plan.CSV() + "\n"
	}
	if has("--execute") {
		if r := plan.Execute(); r.Error != "" {
			return r.Error
		}
	}
	return plan.String()
}

// sentence is the part of a refusal that is Kafka's.
func sentence(text string) string {
	for _, known := range []string{"Error parsing timestamp. It does not contain a 'T' according to ISO8601 format", "Text cannot be parsed to a Duration"} {
		if strings.Contains(text, known) {
			return known
		}
	}
	if strings.Contains(text, "partition 9") || strings.Contains(text, "nosuch") {
		return "" // refused before anything is asked
	}
	return text
}
