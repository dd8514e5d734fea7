package config

import (
	"fmt"
	"strings"
)

// Refusals in Kafka's words. What is wrong with a client's property is said in a sentence of ours, and then in that of the
// exception which KafkaProducer and KafkaConsumer throw, so that who has seen one finds the other. Which texts these are,
// testdata/kafka-4.3.1-refusals.tsv has from the classes themselves.
//
// Kafka: ConfigDef.parseType, its validators, ProducerConfig.postProcessParsedConfig, ConsumerConfig.

// refused is a problem, with the words of the ConfigException with which Kafka refuses it.
func refused(kafka, format string, args ...any) *Problem {
	return thrown("ConfigException", kafka, format, args...)
}

// thrown is refused for another exception.
func thrown(exception, kafka, format string, args ...any) *Problem {
	return problem("%s; Kafka's %s says: %s", fmt.Sprintf(format, args...), exception, kafka)
}

// refuse is want, with what Kafka says about the value; "" when Kafka takes it, or checks it later.
func (p *Property) refuse(value any, what, kafka string) *Problem {
	pr := p.want(value, what)
	if kafka == "" || p.Owner != OwnerProducer && p.Owner != OwnerConsumer || strings.HasPrefix(p.Name, "kafkalab.") {
		return pr
	}
	return refused(fmt.Sprintf("Invalid value %s for configuration %s: %s", written(value), p.Name, kafka), "%s", pr.Text)
}

// written is a value as Kafka repeats it.
func written(value any) string {
	if s, ok := value.(string); ok {
		return s
	}
	return text(value)
}

// Kafka's words about values.
const (
	kafkaBoolean  = "Expected value to be either true or false"
	kafkaNonEmpty = "String must be non-empty"
)

// kafkaNumber is what Kafka says about a text that is none of the property's numbers.
func (p *Property) kafkaNumber() string {
	return "Not a number of type " + strings.ToUpper(p.Type.String())
}

// kafkaLow is what Kafka says about a number below the property's.
func (p *Property) kafkaLow() string {
	switch {
	case p.unbounded:
		return ""
	case p.between != "":
		return p.between
	}
	return fmt.Sprint("Value must be at least ", p.min)
}

// kafkaHigh is what Kafka says about a number above the property's. Where only the type has a limit it is no number.
func (p *Property) kafkaHigh(v int64) string {
	switch {
	case v > maxInt && p.Type == Int, p.max == maxLong:
		return p.kafkaNumber()
	case p.between != "":
		return p.between
	case p.max == maxInt:
		return "" // a longer time than we have
	}
	return fmt.Sprint("Value must be no more than ", p.max)
}

// kafkaOnly is what Kafka says about a text that is none of the property's few.
func (p *Property) kafkaOnly() string {
	if p.texts != "" {
		return p.texts
	}
	return "String must be one of: " + join(p.only)
}
