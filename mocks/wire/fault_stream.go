package wire

import (
	"cmp"
	"net/http"
	"slices"
	"time"
)

// newMissingDone drops the end marker of the stream; the response itself is complete.
func newMissingDone(FaultSpec) Fault {
	return frameFault(func(codec Codec, call Call, frames []Frame) ([]Frame, bool) {
		last := len(frames) - 1
		d := codec.Dialect()
		if !d.streams() || !call.Stream || !d.ends(frames[last].Data) {
			return nil, false
		}
		return frames[:last], true
	})
}

// newDuplicateChunk repeats the last chunk that was delivered.
func newDuplicateChunk(spec FaultSpec) Fault {
	return frameFault(func(_ Codec, _ Call, frames []Frame) ([]Frame, bool) {
		// The end marker is not a chunk of the answer, and a body that is not streamed has none.
		n, ok := delivered(len(frames)-1, spec.After)
		if !ok {
			return nil, false
		}
		return slices.Insert(frames, n+1, Frame{Data: frames[n].Data}), true
	})
}

// dripParts is the number of parts into which a body that is not streamed is divided.
const dripParts = 10

// newSlowDrip delays each chunk of a stream, or each tenth of a body.
func newSlowDrip(spec FaultSpec) Fault {
	pause := cmp.Or(spec.Delay, time.Second)
	first := 0
	if spec.After != nil {
		first = *spec.After
	}
	return frameFault(func(_ Codec, call Call, frames []Frame) ([]Frame, bool) {
		if !call.Stream {
			frames = divide(frames[0])
			if first > 0 { // the body is one chunk, which is delivered
				return nil, false
			}
		}
		if first >= len(frames)-1 {
			return nil, false
		}
		for i := range frames[first+1:] {
			f := &frames[first+1+i]
			f.Delay = addUp(f.Delay, pause)
		}
		return frames, true
	})
}

// divide splits a frame into its head and the parts of its body.
func divide(f Frame) []Frame {
	size := max(1, (len(f.Data)+dripParts-1)/dripParts)
	frames := make([]Frame, 1, dripParts+1)
	frames[0] = Frame{Delay: f.Delay, Status: f.Status, Header: f.Header}
	for part := range slices.Chunk(f.Data, size) {
		frames = append(frames, Frame{Data: part})
	}
	frames[len(frames)-1].End = f.End
	return frames
}

// newErrorEvent ends a stream early with an error.
func newErrorEvent(spec FaultSpec) Fault {
	return func(codec Codec, call Call, answer Completion) ([]Frame, bool) {
		frames, d := codec.Encode(call, answer), codec.Dialect()
		n, ok := delivered(len(frames)-1, spec.After)
		if !d.streams() || !call.Stream || !ok {
			return frames, false
		}
		e := d.errorOf(cmp.Or(spec.Status, http.StatusInternalServerError))
		e.Message = cmp.Or(spec.Message, e.Message)
		event := d.errorEvent(call, answer, e, n)
		if event == nil { // a stream of bytes has no events
			return frames, false
		}
		frames[n+1].Data = event
		return frames[:n+2], true
	}
}
