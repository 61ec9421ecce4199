package record

import "strconv"

// Message returns the message with an id.
func (t *Trial) Message(id string) (*Message, bool) {
	if len(id) < 2 || id[0] != 'm' {
		return nil, false
	}
	n, err := strconv.Atoi(id[1:])
	if err != nil || n < 1 || n > len(t.Messages) || t.Messages[n-1].ID != id {
		return nil, false
	}
	return &t.Messages[n-1], true
}
