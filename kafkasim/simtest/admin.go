package simtest

import (
	"time"

	"kafkalab/kafkasim"
)

// adminVerb does what an administrator does.
func (e *Env) adminVerb(name string, a Args) (string, bool, error) {
	switch name {
	case "alter-topic": // alter-topic orders min.insync.replicas=2 max.message.bytes=default
		return e.C.AlterTopic(a.word(1), a.withDefaults()).String(), true, nil
	case "quota": // quota entity="client-id=checkout" producer_byte_rate=1000 request_percentage=default
		entity, _ := a.take("entity")
		return e.C.AlterQuota(entity, a.withDefaults()).String(), true, nil
	case "delete-topic": // delete-topic orders
		return e.C.DeleteTopic(a.word(1)).String(), true, nil
	case "delete-records": // delete-records orders-0 5
		return e.deleteRecords(a)
	case "unregister": // unregister 2
		id, err := a.number(1)
		if err != nil {
			return "", true, err
		}
		return e.C.Broker(id).Unregister().String(), true, nil
	case "add-partitions", "elect-preferred", "elect-unclean": // add-partitions orders 5; elect-preferred orders [0 1]
	case "reassign", "cancel-reassign": // reassign orders-0 3 2; cancel-reassign orders-0
		return e.reassignVerb(name, a)
	default:
		return "", false, nil
	}
	numbers, err := a.numbers(2)
	if err != nil {
		return "", true, err
	}
	switch name {
	case "elect-preferred":
		return e.C.ElectPreferred(a.word(1), numbers...).String(), true, nil
	case "elect-unclean":
		return e.C.ElectUnclean(a.word(1), numbers...).String(), true, nil
	}
	total, err := a.number(2)
	if err != nil {
		return "", true, err
	}
	if t := e.C.AddPartitions(a.word(1), total); t.Error != "" {
		return t.String(), true, nil
	}
	return "", true, nil
}

// withDefaults is a configuration in which the word default takes a property back.
func (a Args) withDefaults() kafkasim.Config {
	conf := a.config()
	for k, v := range conf {
		if v == "default" {
			conf[k] = nil
		}
	}
	return conf
}

func (e *Env) reassignVerb(name string, a Args) (string, bool, error) {
	topic, id, err := partition(a.word(1))
	if err != nil {
		return "", true, err
	}
	if name == "cancel-reassign" {
		return e.C.CancelReassign(topic, id).String(), true, nil
	}
	brokers, err := a.numbers(2)
	if err != nil {
		return "", true, err
	}
	return e.C.Reassign(topic, id, brokers...).String(), true, nil
}

// deleteRecords lets up to a minute pass until the answer is there, and prints it.
func (e *Env) deleteRecords(a Args) (string, bool, error) {
	topic, id, err := partition(a.word(1))
	if err != nil {
		return "", true, err
	}
	before, err := a.number(2)
	if err != nil {
		return "", true, err
	}
	return e.C.DeleteRecords(topic, id, int64(before)).Wait(time.Minute).String(), true, nil
}
