package machine

import "encoding/json"

// Later is something that a node keeps to do later: a payload inside plain data. The zero value is nothing.
type Later struct{ Payload Payload }

// MarshalJSON writes the payload's type as Kind; nothing is null.
func (l Later) MarshalJSON() ([]byte, error) {
	if l.Payload == nil {
		return []byte("null"), nil
	}
	p, err := savePayload(l.Payload)
	if err != nil {
		return nil, err
	}
	return json.Marshal(p)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (l *Later) UnmarshalJSON(data []byte) error {
	*l = Later{}
	if string(data) == "null" {
		return nil
	}
	var x savedPayload
	if err := json.Unmarshal(data, &x); err != nil {
		return err
	}
	p, err := x.load()
	l.Payload = p
	return err
}
