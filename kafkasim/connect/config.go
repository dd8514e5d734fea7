package connect

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"kafkalab/kafkasim"
	"kafkalab/kafkasim/config"
)

// Properties of workers and connectors, with Kafka's names and defaults (DistributedConfig, WorkerConfig, ConnectorConfig,
// SinkConnectorConfig). Those of the two table connectors are named like those of the JDBC connectors.

type workerConfig struct {
	groupID       string
	flushInterval time.Duration
	maxDelay      time.Duration
	session       time.Duration
	heartbeat     time.Duration
	converter     string
	given         kafkasim.Config
}

type connectorConfig struct {
	source    bool
	tasksMax  int
	tables    []string // a source's
	prefix    string
	poll      time.Duration
	batch     int
	topics    []string // a sink's
	table     string
	upsert    bool
	json      bool
	tolerant  bool
	deadQueue string
	context   bool
}

// properties reads properties and remembers which names it was asked for.
type properties struct {
	where string
	given kafkasim.Config
	known []string
}

func (p *properties) text(name, fallback string) string {
	p.known = append(p.known, name)
	v, ok := p.given[name]
	if !ok {
		return fallback
	}
	return fmt.Sprint(v)
}

func (p *properties) number(name string, fallback, least int) int {
	p.known = append(p.known, name)
	v, ok := p.given[name]
	if !ok {
		return fallback
	}
	n := 0
	if d, is := v.(time.Duration); is && strings.HasSuffix(name, ".ms") {
		n = int(d.Milliseconds())
	} else if _, err := fmt.Sscanf(fmt.Sprint(v), "%d", &n); err != nil || fmt.Sprint(n) != fmt.Sprint(v) {
		misuse(p.where, "%s %v: want a whole number", name, v)
	}
	if n < least {
		misuse(p.where, "%s %v: want %d or more", name, v, least)
	}
	return n
}

func (p *properties) ms(name string, fallback, least int) time.Duration {
	return time.Duration(p.number(name, fallback, least)) * time.Millisecond
}

func (p *properties) names(name, example string) []string {
	var out []string
	for s := range strings.SplitSeq(p.text(name, ""), ",") {
		if s = strings.TrimSpace(s); s != "" && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	if len(out) == 0 {
		misuse(p.where, "%s is missing; want names with commas between them, such as %q", name, example)
	}
	return out
}

func (p *properties) oneOf(name, fallback string, values ...string) string {
	v := p.text(name, fallback)
	if !slices.Contains(values, v) {
		misuse(p.where, "%s %q: want %s", name, v, strings.Join(values, " or "))
	}
	return v
}

// end refuses what nobody asked for.
func (p *properties) end() {
	for _, name := range slices.Sorted(maps.Keys(p.given)) {
		if !slices.Contains(p.known, name) {
			misuse(p.where, "unknown property, or one of Connect's that is not modelled: %q%s", name, nearest(name, p.known))
		}
	}
}

func nearest(name string, names []string) string {
	if near := config.Nearest(name, names); near != "" {
		return fmt.Sprintf(" - did you mean %q?", near)
	}
	if len(names) == 0 {
		return ""
	}
	names = slices.Clone(names)
	slices.Sort(names)
	return "; there are " + strings.Join(names, ", ")
}

// converter reads value.converter, by its short or its full name.
func (p *properties) converter(fallback string) string {
	v := p.text("value.converter", fallback)
	short := v[strings.LastIndex(v, ".")+1:]
	if short != "StringConverter" && short != "JsonConverter" {
		misuse(p.where, "value.converter %q: want StringConverter or JsonConverter; others are not modelled", v)
	}
	return short
}

func parseWorker(verb string, conf kafkasim.Config) workerConfig {
	p := &properties{where: verb, given: conf}
	w := workerConfig{
		groupID:       p.text("group.id", "connect-cluster"),
		flushInterval: p.ms("offset.flush.interval.ms", 60000, 1),
		maxDelay:      p.ms("scheduled.rebalance.max.delay.ms", 300000, 0),
		session:       p.ms("session.timeout.ms", 10000, 1),
		heartbeat:     p.ms("heartbeat.interval.ms", 3000, 1),
		converter:     p.converter("StringConverter"),
		given:         conf,
	}
	p.end()
	if w.heartbeat >= w.session {
		misuse(verb, "heartbeat.interval.ms %d: want less than session.timeout.ms %d", w.heartbeat.Milliseconds(), w.session.Milliseconds())
	}
	return w
}

func parseConnector(where string, w workerConfig, conf kafkasim.Config) connectorConfig {
	p := &properties{where: where, given: conf}
	x := connectorConfig{source: p.oneOf("connector.class", "", "TableSource", "TableSink") == "TableSource",
		tasksMax: p.number("tasks.max", 1, 1), json: p.converter(w.converter) == "JsonConverter",
		tolerant: p.oneOf("errors.tolerance", "none", "none", "all") == "all"}
	if x.source {
		x.tables = p.names("tables", "orders,users")
		x.prefix = p.text("topic.prefix", "")
		x.poll = p.ms("poll.interval.ms", 5000, 1)
		x.batch = p.number("batch.max.rows", 100, 1)
	} else {
		x.topics = p.names("topics", "db-orders")
		x.table = p.names("table", "copy")[0]
		x.upsert = p.oneOf("insert.mode", "insert", "insert", "upsert") == "upsert"
		x.deadQueue = p.text("errors.deadletterqueue.topic.name", "")
		x.context = p.oneOf("errors.deadletterqueue.context.headers.enable", "false", "false", "true") == "true"
	}
	p.end()
	if x.deadQueue != "" && !x.tolerant {
		misuse(where, "errors.deadletterqueue.topic.name without errors.tolerance=all: with none the task fails and nothing goes to the queue")
	}
	return x
}
