package kafkasim

import (
	"fmt"
	"maps"
	"regexp"
	"slices"

	"kafkalab/kafkasim/config"
	"kafkalab/kafkasim/machine"
)

// topicNames are the names that Kafka takes (Topic.validate): 1 to 249 letters, digits, dots, underscores
// and hyphens.
var topicNames = regexp.MustCompile(`^[a-zA-Z0-9._-]{1,249}$`)

// CreateTopic asks the controller for a topic and tells what came of it. Replicas are spread by the
// controller; conf holds topic properties and may be nil. Brokers and clients hear of the topic as news
// travels. With several controllers time passes until the topic is committed; without a majority of them it is
// a minute, and the error is TimeoutException: the topic may still be made when there is a majority again.
func (c *Cluster) CreateTopic(name string, partitions, replicationFactor int, conf Config) *Topic {
	code := fmt.Sprintf("c.CreateTopic(%q, %d, %d, %s)", name, partitions, replicationFactor, conf.orNil())
	return c.createTopic(name, partitions, replicationFactor, conf, nil, code)
}

func (c *Cluster) createTopic(name string, partitions, rf int, conf Config, assignment [][]int, code string) *Topic {
	where := fmt.Sprintf("CreateTopic(%q)", name)
	if !topicNames.MatchString(name) || name == "." || name == ".." {
		misuse(where, "a topic's name has 1 to 249 letters, digits, dots, underscores and hyphens, and is not . or ..")
	}
	if c.findTopic(name) >= 0 {
		misuse(where, "there already is a topic %q", name)
	}
	if partitions < 1 || partitions > maxPartitions {
		misuse(where, "%d partitions: want 1 to %d", partitions, maxPartitions)
	}
	if rf < 1 {
		misuse(where, "replication factor %d: want 1 to %d", rf, len(c.s.Brokers))
	}
	if rf > len(c.s.Brokers) {
		misuse(where, "replication factor %d is larger than the %s of this cluster", rf, plural(len(c.s.Brokers), "broker"))
	}
	props, problem := config.ParseTopic(c.s.World.Broker.Topic, conf)
	mustParse(where, problem)
	cmd := machine.CreateTopic{Name: name, Partitions: int32(partitions), ReplicationFactor: int32(rf), Props: props,
		Set: slices.Sorted(maps.Keys(conf))}
	for _, ids := range assignment {
		var nodes []machine.NodeID
		for _, id := range ids {
			nodes = append(nodes, machine.NodeID(id))
		}
		cmd.Assignment = append(cmd.Assignment, nodes)
	}
	r := c.ask(code, cmd)
	if r.Error != machine.NONE {
		return &Topic{Name: name, Error: r.Error.String(), waits: waits(r)}
	}
	return c.Topic(name)
}

// over lays properties over others; either may be nil.
func over(base, conf Config) map[string]any {
	all := map[string]any{}
	for _, m := range []Config{base, conf} {
		for k, v := range m {
			all[k] = v
		}
	}
	return all
}

// orNil writes properties as Go code, nil when there are none.
func (c Config) orNil() string {
	if len(c) == 0 {
		return "nil"
	}
	return c.code()
}

// code writes a record as Go code.
func (r Record) code() string {
	s := fmt.Sprintf("kafkasim.Record{Topic: %q", r.Topic)
	if r.Partition != nil {
		s += fmt.Sprintf(", Partition: %#v", r.Partition)
	}
	if r.Key != nil {
		s += fmt.Sprintf(", Key: %#v", r.Key)
	}
	if r.Value != nil {
		s += fmt.Sprintf(", Value: %#v", r.Value)
	}
	if len(r.Headers) > 0 {
		s += ", Headers: []kafkasim.Header{"
		for i, h := range r.Headers {
			if i > 0 {
				s += ", "
			}
			s += fmt.Sprintf("{Key: %q, Value: %q}", h.Key, h.Value)
		}
		s += "}"
	}
	if r.Timestamp != 0 {
		s += ", Timestamp: " + goDuration(r.Timestamp.Microseconds())
	}
	return s + "}"
}

// sortOverrides deals a preset's overrides out to brokers, topic and producer, each by whose they are.
func sortOverrides(where string, overrides []Config, broker, topic, producer Config) {
	for _, o := range overrides {
		var names []string
		for k := range o {
			names = append(names, k)
		}
		slices.Sort(names)
		for _, k := range names {
			_, isTopic := config.Lookup(config.OwnerTopic, k)
			_, isProducer := config.Lookup(config.OwnerProducer, k)
			_, isBroker := config.Lookup(config.OwnerBroker, k)
			switch {
			case isTopic:
				topic[k] = o[k]
			case isProducer:
				producer[k] = o[k]
			case isBroker:
				broker[k] = o[k]
			default:
				all := append(config.Names(config.OwnerTopic), config.Names(config.OwnerProducer)...)
				misuse(where, "unknown property %q%s", k, meant(k, append(all, config.Names(config.OwnerBroker)...), ""))
			}
		}
	}
}
