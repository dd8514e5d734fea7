// Package bench compares the simulator with kfake, the fake Kafka that Go programs test with, in one run.
// It is a module of its own, so that the product does not depend on kfake.
package bench
