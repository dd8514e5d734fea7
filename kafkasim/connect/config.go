package connect

import (
	"fmt"
	"maps"
	"regexp"
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
	keys          string
	converter     string
	exactlyOnce   bool
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
	keys      string // converters
	values    string
	chain     chain
	retries   int // a sink's
	backoff   time.Duration
	deletes   bool
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

// list is names with commas between them, none for a property that is not given.
func (p *properties) list(name string) (out []string) {
	for s := range strings.SplitSeq(p.text(name, ""), ",") {
		if s = strings.TrimSpace(s); s != "" && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// names is a list that must not be empty.
func (p *properties) names(name, example string) []string {
	out := p.list(name)
	if len(out) == 0 {
		misuse(p.where, "%s is missing; want names with commas between them, such as %q", name, example)
	}
	return out
}

// needed is a text that must be given.
func (p *properties) needed(name, example string) string {
	v := p.text(name, "")
	if v == "" {
		misuse(p.where, "%s is missing; want something such as %q", name, example)
	}
	return v
}

// regexp is a regular expression for the whole of a text.
func (p *properties) regexp(name, example string) *regexp.Regexp {
	text := p.needed(name, example)
	r, err := regexp.Compile("^(?:" + text + ")$")
	if err != nil {
		misuse(p.where, "%s %q: %v", name, text, err)
	}
	return r
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

// converter reads key.converter or value.converter, by its short or its full name.
func (p *properties) converter(name, fallback string) string {
	v := p.text(name, fallback)
	short := v[strings.LastIndex(v, ".")+1:]
	if converters[short] == "" {
		misuse(p.where, "%s %q: want StringConverter or JsonConverter; others are not modelled", name, v)
	}
	if p.oneOf(name+".schemas.enable", "false", "true", "false") == "true" {
		misuse(p.where, "%s.schemas.enable=true: schemas in messages are not modelled, and it is false here (true in Kafka)", name)
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
		keys:          p.converter("key.converter", "StringConverter"),
		converter:     p.converter("value.converter", "StringConverter"),
		exactlyOnce:   p.oneOf("exactly.once.source.support", "disabled", "disabled", "preparing", "enabled") == "enabled",
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
		tasksMax: p.number("tasks.max", 1, 1), keys: p.converter("key.converter", w.keys), values: p.converter("value.converter", w.converter),
		tolerant: p.oneOf("errors.tolerance", "none", "none", "all") == "all", chain: p.transforms()}
	if _, asked := conf["errors.retry.timeout"]; asked {
		misuse(where, "errors.retry.timeout is a real property that is not modelled: no converter or transform here throws an error that can be tried again; a sink's max.retries is for its table")
	}
	if x.source {
		x.tables = p.names("tables", "orders,users")
		x.prefix = p.text("topic.prefix", "")
		x.poll = p.ms("poll.interval.ms", 5000, 1)
		x.batch = p.number("batch.max.rows", 100, 1)
		if p.oneOf("exactly.once.support", "requested", "requested", "required") == "required" && !w.exactlyOnce {
			misuse(where, "exactly.once.support=required: the workers have exactly.once.source.support=disabled; give connect.New exactly.once.source.support=enabled")
		}
		p.oneOf("transaction.boundary", "poll", "poll")
	} else {
		x.topics = p.names("topics", "db-orders")
		x.table = p.names("table", "copy")[0]
		x.upsert = p.oneOf("insert.mode", "insert", "insert", "upsert") == "upsert"
		x.deletes = p.oneOf("delete.enabled", "false", "false", "true") == "true"
		if x.deletes && !x.upsert {
			misuse(where, "delete.enabled=true: a row is found by its key only with insert.mode=upsert")
		}
		x.retries, x.backoff = p.number("max.retries", 10, 0), p.ms("retry.backoff.ms", 3000, 0)
		x.deadQueue = p.text("errors.deadletterqueue.topic.name", "")
		x.context = p.oneOf("errors.deadletterqueue.context.headers.enable", "false", "false", "true") == "true"
	}
	p.end()
	if x.deadQueue != "" && !x.tolerant {
		misuse(where, "errors.deadletterqueue.topic.name without errors.tolerance=all: with none the task fails and nothing goes to the queue")
	}
	return x
}
