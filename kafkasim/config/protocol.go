package config

// Protocol is a security.protocol: whether connections are encrypted. It costs no time here; the brokers' counters
// tell what it costs.
type Protocol uint8

// The protocols. SASL would change nothing of what is counted, and is refused.
const (
	Plaintext Protocol = iota
	SSL
)

var protocolNames = []string{"PLAINTEXT", "SSL"}

func protocol(name string, field func(any) any, doc string) Property {
	p := choice(name, "PLAINTEXT", protocolNames, field, doc)
	p.late = []only{{"SASL_PLAINTEXT", "nobody logs in here"}, {"SASL_SSL", "nobody logs in here; SSL has the same cost"}}
	return p
}
