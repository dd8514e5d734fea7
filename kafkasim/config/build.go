package config

import (
	"fmt"
	"slices"
	"strconv"
)

// ParseBroker reads World.Config: defaults, then what is given, then the rules between properties.
func ParseBroker(given map[string]any) (Broker, *Problem) {
	var c Broker
	defaults(OwnerBroker, &c)
	if _, pr := apply(OwnerBroker, &c, given); pr != nil {
		return Broker{}, pr
	}
	// KafkaConfig.validateValues
	if c.ReplicaFetchWaitMaxMs > c.ReplicaSocketTimeoutMs {
		return Broker{}, problem("replica.fetch.wait.max.ms=%d must not be above replica.socket.timeout.ms=%d", c.ReplicaFetchWaitMaxMs, c.ReplicaSocketTimeoutMs)
	}
	if c.ReplicaFetchWaitMaxMs > c.ReplicaLagTimeMaxMs {
		return Broker{}, problem("replica.fetch.wait.max.ms=%d must not be above replica.lag.time.max.ms=%d, or followers would often be taken out of the ISR", c.ReplicaFetchWaitMaxMs, c.ReplicaLagTimeMaxMs)
	}
	if pr := c.Share.settle(); pr != nil {
		return Broker{}, pr
	}
	for _, v := range []struct {
		name  string
		value int64
	}{{"replica.lag.time.max.ms", c.ReplicaLagTimeMaxMs}, {"broker.heartbeat.interval.ms", c.BrokerHeartbeatIntervalMs}, {"broker.session.timeout.ms", c.BrokerSessionTimeoutMs}} {
		if v.value < 1 {
			return Broker{}, problem("%s=%d: want at least 1", v.name, v.value)
		}
	}
	if pr := c.ConsumerGroups.settle(); pr != nil {
		return Broker{}, pr
	}
	return c, nil
}

// ParseTopic reads a topic's properties over the brokers' defaults.
func ParseTopic(base Topic, given map[string]any) (Topic, *Problem) {
	_, pr := apply(OwnerTopic, &base, given)
	if pr == nil {
		pr = base.Levels.check()
	}
	return base, pr
}

// ParseProducer reads a producer's properties (ProducerConfig.postProcessParsedConfig).
func ParseProducer(given map[string]any) (Producer, *Problem) {
	var c Producer
	defaults(OwnerProducer, &c)
	set, pr := apply(OwnerProducer, &c, given)
	if pr != nil {
		return Producer{}, pr
	}
	if pr := c.Levels.check(); pr != nil {
		return Producer{}, refused("Invalid value 0 for configuration compression.gzip.level: "+gzipLevels, "%s", pr.Text)
	}
	explicit := func(name string) bool { return slices.Contains(set, name) }
	if explicit("transactional.id") && c.TransactionalID == "" {
		return Producer{}, refused("Invalid value  for configuration transactional.id: "+kafkaNonEmpty, "transactional.id=\"\": want a text that is not empty")
	}
	if pr := c.idempotence(explicit); pr != nil {
		return Producer{}, pr
	}
	// P-63: the whole time for a record must cover one wait and one request.
	if least := c.LingerMs + c.RequestTimeoutMs; c.DeliveryTimeoutMs < least {
		if explicit("delivery.timeout.ms") {
			return Producer{}, refused("delivery.timeout.ms should be equal to or larger than linger.ms + request.timeout.ms",
				"delivery.timeout.ms=%d must be at least linger.ms + request.timeout.ms = %d + %d = %d", c.DeliveryTimeoutMs, c.LingerMs, c.RequestTimeoutMs, least)
		}
		c.DeliveryTimeoutMs = least
	}
	backoffs(&c.RetryBackoffMs, c.RetryBackoffMaxMs, c.ReconnectBackoffMs, &c.ReconnectBackoffMax, explicit)
	return c, nil
}

// backoffs settles the waits that contradict each other. A retry.backoff.ms above its maximum gives way to
// it (ExponentialBackoff); a reconnect.backoff.ms that is set without a maximum is the maximum too
// (CommonClientConfigs.postProcessReconnectBackoffConfigs).
func backoffs(retry *int64, retryMax, reconnect int64, reconnectMax *int64, explicit func(string) bool) {
	*retry = min(*retry, retryMax)
	if explicit("reconnect.backoff.ms") && !explicit("reconnect.backoff.max.ms") {
		*reconnectMax = reconnect
	}
	*reconnectMax = max(*reconnectMax, reconnect)
}

// idempotence settles enable.idempotence (P-80): not set, it gives way to acks and retries; set to true,
// the others must fit. A broker remembers five batches, so five may be in flight (P-92).
func (c *Producer) idempotence(explicit func(string) bool) *Problem {
	if !c.EnableIdempotence {
		return c.transactions()
	}
	must := explicit("enable.idempotence")
	switch {
	case c.Acks != AcksAll && must:
		return refused("Must set acks to all in order to use the idempotent producer. Otherwise we cannot guarantee idempotence.",
			"acks=%d cannot be used with enable.idempotence=true (it needs acks=all)", c.Acks)
	case c.Retries == 0 && must:
		return refused("Must set retries to non-zero when using the idempotent producer.",
			"retries=0 cannot be used with enable.idempotence=true (it needs retries above 0)")
	case c.Acks != AcksAll || c.Retries == 0:
		c.EnableIdempotence = false
		return c.transactions()
	case c.MaxInFlight > 5:
		return refused(fmt.Sprintf("To use the idempotent producer, max.in.flight.requests.per.connection must be set to at most 5. Current value is %d.", c.MaxInFlight),
			"max.in.flight.requests.per.connection=%d cannot be used with enable.idempotence=true (at most 5)", c.MaxInFlight)
	}
	return nil
}

// transactions refuses a transactional.id without idempotence (P-80).
func (c *Producer) transactions() *Problem {
	if c.TransactionalID != "" {
		return refused("Cannot set a transactional.id without also enabling idempotence.",
			"transactional.id=%q cannot be used without idempotence (it needs enable.idempotence=true, acks=all and retries above 0)", c.TransactionalID)
	}
	return nil
}

// ParseConsumer reads a consumer's properties.
func ParseConsumer(given map[string]any) (Consumer, *Problem) {
	var c Consumer
	defaults(OwnerConsumer, &c)
	set, pr := apply(OwnerConsumer, &c, given)
	if pr != nil {
		return Consumer{}, pr
	}
	backoffs(&c.RetryBackoffMs, c.RetryBackoffMaxMs, c.ReconnectBackoffMs, &c.ReconnectBackoffMax,
		func(name string) bool { return slices.Contains(set, name) })
	if pr := c.Member.settle(func(name string) bool { return slices.Contains(set, name) }); pr != nil {
		return Consumer{}, pr
	}
	return c, nil
}

// valueOf is the text of the field that a pointer points to.
func valueOf(field any) string {
	switch f := field.(type) {
	case *bool:
		return strconv.FormatBool(*f)
	case *Cleanup:
		return f.String()
	case *Compression:
		return f.String()
	case *Ratio:
		return f.String()
	case *Throttled:
		return string(*f)
	case *int32:
		return strconv.FormatInt(int64(*f), 10)
	case *int64:
		return strconv.FormatInt(*f, 10)
	}
	panic("config: a topic property of an unknown kind")
}
