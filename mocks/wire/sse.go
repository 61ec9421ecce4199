package wire

import "bytes"

// sseData begins the line of an event that carries its data.
const sseData = "data: "

// sseParts splits an event into its data, which is one line in all protocols, and the part before.
func sseParts(event []byte) (before, data []byte, ok bool) {
	if !bytes.HasPrefix(event, []byte(sseData)) {
		i := bytes.Index(event, []byte("\n"+sseData))
		if i < 0 {
			return nil, nil, false
		}
		before, event = event[:i+1], event[i+1:]
	}
	return before, bytes.TrimSuffix(event[len(sseData):], []byte("\n\n")), true
}

// sseObject returns the JSON object in an event; false if the event has no object.
func sseObject(event []byte) ([]byte, bool) {
	_, data, ok := sseParts(event)
	if !ok || len(data) == 0 || data[0] != '{' {
		return nil, false
	}
	return data, true
}

// withData returns the event with other data.
func withData(event, data []byte) []byte {
	before, _, _ := sseParts(event)
	return bytes.Join([][]byte{before, []byte(sseData), data, []byte("\n\n")}, nil)
}

// sseEvent returns an event; its name may be empty.
func sseEvent(name string, data []byte) []byte {
	var event []byte
	if name != "" {
		event = append(append(append(event, "event: "...), name...), '\n')
	}
	return append(append(append(event, sseData...), data...), "\n\n"...)
}
