package wire

// newTimeout sends nothing, not even a response head.
func newTimeout(FaultSpec) Fault {
	return plainFault(func(Codec, Completion) []Frame { return []Frame{{End: Hang}} })
}

// newResetBeforeHeaders resets the connection when the first byte would be due.
func newResetBeforeHeaders(FaultSpec) Fault {
	return plainFault(func(_ Codec, answer Completion) []Frame {
		return []Frame{{Delay: answer.First, End: Reset}}
	})
}

// newResetAfterHeaders sends the head of the answer and resets the connection.
func newResetAfterHeaders(FaultSpec) Fault {
	return frameFault(func(_ Codec, _ Call, frames []Frame) ([]Frame, bool) {
		head := frames[0]
		head.Data, head.End = nil, Reset
		return []Frame{head}, true
	})
}

func newResetMidStream(spec FaultSpec) Fault  { return cutting(spec.After, Reset) }
func newTruncatedStream(spec FaultSpec) Fault { return cutting(spec.After, Close) }

// cutting drops the chunks after the first ones. The head of a body that is not streamed keeps
// its full Content-Length, by which a client can notice.
func cutting(after *int, end End) Fault {
	return frameFault(func(_ Codec, call Call, frames []Frame) ([]Frame, bool) {
		last := 0
		if call.Stream {
			n, ok := delivered(len(frames)-1, after)
			if !ok {
				return nil, false
			}
			last = n
		} else {
			n, ok := deliveredBytes(frames[0].Data, after)
			if !ok {
				return nil, false
			}
			frames[0].Data = frames[0].Data[:n]
		}
		frames[last].End = end
		return frames[:last+1], true
	})
}

// deliveredBytes is delivered for the bytes of a body, which counts as one chunk.
func deliveredBytes(body []byte, after *int) (int, bool) {
	if after != nil {
		return 0, *after == 0
	}
	return len(body) / 2, len(body) > 0
}
