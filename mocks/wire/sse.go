package wire

import "bytes"

// sseData begins the line of an event that carries its data.
const sseData = "data: "

// sseParts splits an event into what comes before its data and the data, which is
// one line in all protocols.
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

// sseObject is the JSON object in an event, and false if it has none.
func sseObject(event []byte) ([]byte, bool) {
	_, data, ok := sseParts(event)
	if !ok || len(data) == 0 || data[0] != '{' {
		return nil, false
	}
	return data, true
}

// withData is the event with other data.
func withData(event, data []byte) []byte {
	before, _, _ := sseParts(event)
	return bytes.Join([][]byte{before, []byte(sseData), data, []byte("\n\n")}, nil)
}

// sseEvent is the event of that name, which may be empty, that carries data.
func sseEvent(name string, data []byte) []byte {
	var event []byte
	if name != "" {
		event = append(append(append(event, "event: "...), name...), '\n')
	}
	return append(append(append(event, sseData...), data...), "\n\n"...)
}
