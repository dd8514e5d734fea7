// Package machine is the simulated cluster as a value: State is plain data, Step moves it by one event,
// Apply lets a user act on it. It is pure: no goroutines, no clock, no global randomness, no maps, and
// the same world, seed and commands give the same bytes on every machine.
//
// Messages are data: an Event says when it happens, to whom, and what (its Payload). Brokers, controllers
// and clients talk to each other through events only, so the network is visible and can be cut, held and
// reordered by a user.
//
// Files are named after the Kafka part they hold. Rule ids (R1.12, P-50 …) are those of FIDELITY.md.
package machine
