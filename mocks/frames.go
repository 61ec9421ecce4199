package mocks

import (
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"slices"
	"strconv"

	"github.com/rehearse-dev/rehearse/mocks/tape"
	"github.com/rehearse-dev/rehearse/mocks/wire"
)

// Frames is a captured answer. It is sent again byte for byte, with the same pieces and the gaps
// between them.
type Frames struct {
	// File is the tape of the capture. The path is relative to the script's folder and cannot
	// leave it.
	File string `yaml:"file" json:"file"`
	// Exchange is the number of the exchange on the tape.
	Exchange int `yaml:"exchange" json:"exchange" jsonschema:"minimum=1"`

	loaded *tape.Exchange
}

// Captured returns the exchange; nil before Script.LoadFrames.
func (f *Frames) Captured() *tape.Exchange { return f.loaded }

// maxTape limits the size of a tape, in bytes.
const maxTape = 256 << 20

// LoadFrames reads the captured answers of the script from its folder; see Load.
func (s *Script) LoadFrames(fsys fs.FS) []Problem {
	v := &validator{}
	tapes := map[string]tape.Tape{}
	for path, a := range s.Answers() {
		f := a.Frames
		if f == nil || f.loaded != nil {
			continue
		}
		t, read := tapes[f.File]
		if !read {
			var err error
			if t, err = readTape(fsys, f.File); err != nil {
				v.add(path+".frames.file", "%v", err)
				continue
			}
			tapes[f.File] = t
		}
		if err := f.find(&t); err != nil {
			v.add(path+".frames.exchange", "%v", err)
		}
	}
	return v.problems
}

func readTape(fsys fs.FS, name string) (t tape.Tape, err error) {
	file, err := openRegular(fsys, name, maxTape)
	if err != nil {
		return t, fmt.Errorf("read the captured answers: %w", err)
	}
	defer file.Close()
	if t, err = tape.Read(io.LimitReader(file, maxTape)); err != nil {
		return t, fmt.Errorf("read the captured answers: %s: %w", name, err)
	}
	return t, nil
}

func (f *Frames) find(t *tape.Tape) error {
	x, ok := t.Find(f.Exchange)
	switch {
	case !ok:
		return fmt.Errorf("the tape %q has no exchange %d", f.File, f.Exchange)
	case x.Lost != "":
		return fmt.Errorf("exchange %d of %q has no answer: %s", f.Exchange, f.File, x.Lost)
	case x.Status >= http.StatusBadRequest:
		return fmt.Errorf("exchange %d of %q has the status %d; write a fault instead", f.Exchange, f.File, x.Status)
	case len(x.Frames) == 0 && !isMedia(x):
		return fmt.Errorf("exchange %d of %q has no frames; capture it with --frames, or give its text", f.Exchange, f.File)
	}
	f.loaded = x
	return nil
}

// isMedia reports whether an exchange is about images or sound, whose answers are sent in one piece if the
// pieces were not captured.
func isMedia(x *tape.Exchange) bool {
	codec, ok := wire.ForExchange(x.Protocol, x.Path)
	return ok && codec.Dialect().Media
}

// captured is an answer of a tape, ready to send.
type captured struct {
	protocol string
	stream   bool
	frames   []wire.Frame
	answer   wire.Completion
}

// compile decodes the answer to obtain its text and usage for recordings.
func (f *Frames) compile() (*captured, error) {
	if f == nil {
		return nil, nil
	}
	x := f.loaded
	if x == nil {
		return nil, fmt.Errorf("the tape %q is not loaded; call Script.LoadFrames first", f.File)
	}
	codec, ok := wire.ForExchange(x.Protocol, x.Path)
	if !ok {
		return nil, fmt.Errorf("exchange %d of %q has the unknown protocol %.60q", f.Exchange, f.File, x.Protocol)
	}
	c := &captured{protocol: x.Protocol, stream: wire.Streamed(x.ContentType)}
	var err error
	if c.answer, err = codec.ReadAnswer(c.stream, x.Body); err != nil {
		return nil, fmt.Errorf("exchange %d of %q: %w", f.Exchange, f.File, err)
	}
	pieces := x.Frames
	if len(pieces) == 0 {
		pieces = []tape.Frame{{Bytes: len(x.Body)}}
	}
	from := 0
	for _, frame := range pieces {
		to := from + frame.Bytes
		c.frames = append(c.frames, wire.Frame{Delay: frame.Gap, Data: x.Body[from:to:to]})
		from = to
	}
	head := http.Header{"Content-Type": {x.ContentType}}
	if !c.stream {
		head.Set("Content-Length", strconv.Itoa(len(x.Body)))
	}
	c.frames[0].Status, c.frames[0].Header = x.Status, head
	return c, nil
}

// encode returns the frames for a call, or an error if the capture does not fit the call.
func (c *captured) encode(codec wire.Codec, call *wire.Call) ([]wire.Frame, error) {
	switch {
	case codec.Protocol() != c.protocol:
		return nil, fmt.Errorf("the answer was captured from %s, but the call uses %s", c.protocol, codec.Protocol())
	case call.Stream != c.stream:
		return nil, fmt.Errorf("the captured answer is %s, but the call asks for %s", streaming(c.stream), streaming(call.Stream))
	}
	frames := slices.Clone(c.frames) // perturbations edit them, and reports of rate limits their header
	frames[0].Header = frames[0].Header.Clone()
	return frames, nil
}

func streaming(yes bool) string {
	if yes {
		return "a stream"
	}
	return "one document"
}

// frames checks that a captured answer, which is complete, has no other parts.
func (v *validator) frames(path string, a *Answer) {
	if a.Frames == nil {
		return
	}
	others := []answerPart{{"usage", a.Usage != nil}, {"latency", a.Latency != nil}, {"fault", a.Fault != nil}}
	for _, key := range given(append(a.additions(), others...)) {
		v.add(path+"."+key, "a captured answer (frames) is sent unchanged; remove %s or frames", key)
	}
	if a.Frames.Exchange < 1 {
		v.add(path+".frames.exchange", "must be at least 1, not %d", a.Frames.Exchange)
	}
	if _, err := localPath(a.Frames.File); err != nil {
		v.add(path+".frames.file", "%q %v", a.Frames.File, err)
	}
}
