package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// eventStreamType is the content type of Amazon's event streams, see
// https://smithy.io/2.0/aws/amazon-eventstream.html. A message consists of its length, the length
// of its headers and a checksum of both, then the headers, the payload and a checksum of all.
const eventStreamType = "application/vnd.amazon.eventstream"

const (
	preludeBytes  = 12
	checksumBytes = 4
	// maxMessage is Amazon's limit of a message, in bytes.
	maxMessage = 24 << 20
	// stringHeader is the type of a header that is a string.
	stringHeader = 7
)

// headerSizes are the sizes of the values of the other types of headers; -1 has its length in two
// bytes before it.
var headerSizes = [...]int{0, 0, 1, 2, 4, 8, -1, -1, 8, 16}

var messageFraming = framing{object: soleObject, withData: func(message, data []byte) []byte {
	return appendMessage(nil, message[preludeBytes:preludeBytes+headerLen(message)], data)
}}

// eventMessage is one decoded message of an event stream.
type eventMessage struct {
	headers map[string]string // those that are strings
	payload []byte
}

// eventHeaders returns the headers of a message of a kind, "event" or "exception", and its type.
func eventHeaders(kind, name string) []byte {
	var b []byte
	for _, h := range [][2]string{{":" + kind + "-type", name}, {":content-type", jsonType}, {":message-type", kind}} {
		b = append(append(b, byte(len(h[0]))), h[0]...)
		b = binary.BigEndian.AppendUint16(append(b, stringHeader), uint16(len(h[1])))
		b = append(b, h[1]...)
	}
	return b
}

// appendMessage appends a message with encoded headers.
func appendMessage(b, headers, payload []byte) []byte {
	start := len(b)
	b = binary.BigEndian.AppendUint32(b, uint32(preludeBytes+len(headers)+len(payload)+checksumBytes))
	b = binary.BigEndian.AppendUint32(b, uint32(len(headers)))
	b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[start:]))
	b = append(append(b, headers...), payload...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[start:]))
}

func headerLen(message []byte) int { return int(binary.BigEndian.Uint32(message[4:])) }

// splitMessage splits the first message off a stream, without validating it. An impossible length
// takes the rest of the stream.
func splitMessage(stream []byte) (data []byte, whole bool, rest []byte) {
	if len(stream) < 4 {
		return stream, false, nil
	}
	n := binary.BigEndian.Uint32(stream)
	switch {
	case n < preludeBytes+checksumBytes || n > maxMessage:
		return stream, true, nil
	case int(n) > len(stream):
		return stream, false, nil
	}
	return stream[:n:n], true, stream[n:]
}

// decodeMessage decodes and validates one message.
func decodeMessage(data []byte) (eventMessage, error) {
	n := len(data)
	switch {
	case n < preludeBytes+checksumBytes || int(binary.BigEndian.Uint32(data)) != n:
		return eventMessage{}, errors.New("the length of an event-stream message is not that in its prelude")
	case binary.BigEndian.Uint32(data[8:]) != crc32.ChecksumIEEE(data[:8]):
		return eventMessage{}, errors.New("the checksum of an event-stream prelude does not match")
	case binary.BigEndian.Uint32(data[n-checksumBytes:]) != crc32.ChecksumIEEE(data[:n-checksumBytes]):
		return eventMessage{}, errors.New("the checksum of an event-stream message does not match")
	case headerLen(data) > n-preludeBytes-checksumBytes:
		return eventMessage{}, errors.New("the headers of an event-stream message exceed it")
	}
	end := preludeBytes + headerLen(data)
	headers, err := decodeHeaders(data[preludeBytes:end])
	return eventMessage{headers, data[end : n-checksumBytes]}, err
}

func decodeHeaders(b []byte) (map[string]string, error) {
	headers := map[string]string{}
	for len(b) > 0 {
		name, rest, ok := prefixed(b[1:], int(b[0]))
		if !ok || len(rest) == 0 || int(rest[0]) >= len(headerSizes) {
			return nil, fmt.Errorf("header %d of an event-stream message is malformed", len(headers)+1)
		}
		kind, size := rest[0], headerSizes[rest[0]]
		if rest = rest[1:]; size < 0 {
			if len(rest) < 2 {
				return nil, fmt.Errorf("header %.64q of an event-stream message has no length", name)
			}
			size, rest = int(binary.BigEndian.Uint16(rest)), rest[2:]
		}
		value, rest, ok := prefixed(rest, size)
		if !ok {
			return nil, fmt.Errorf("header %.64q of an event-stream message is cut off", name)
		}
		if kind == stringHeader {
			headers[string(name)] = string(value)
		}
		b = rest
	}
	return headers, nil
}

// prefixed splits off the first n bytes; false if there are fewer.
func prefixed(b []byte, n int) (first, rest []byte, ok bool) {
	if n > len(b) {
		return nil, nil, false
	}
	return b[:n], b[n:], true
}

// soleObject returns the payload of a frame that is one message with a JSON object.
func soleObject(frame []byte) ([]byte, bool) {
	data, whole, rest := splitMessage(frame)
	if !whole || len(rest) > 0 {
		return nil, false
	}
	m, err := decodeMessage(data)
	return m.payload, err == nil && bytes.HasPrefix(m.payload, []byte("{"))
}
