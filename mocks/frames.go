package mocks

import (
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strconv"
	"strings"

	"github.com/rehearse-dev/rehearse/mocks/tape"
	"github.com/rehearse-dev/rehearse/mocks/wire"
)

// Frames is an answer that was captured: its bytes go out again as they came, piece by
// piece and with the gaps between them.
type Frames struct {
	// File is the tape of the capture; the path is relative to the script's folder and
	// cannot leave it.
	File string `yaml:"file" json:"file"`
	// Exchange is the number of the exchange on it.
	Exchange int `yaml:"exchange" json:"exchange" jsonschema:"minimum=1"`

	loaded *tape.Exchange
}

// Captured returns the exchange, once Script.LoadFrames has read it.
func (f *Frames) Captured() *tape.Exchange { return f.loaded }

// maxTape is the size in bytes up to which a tape is read.
const maxTape = 256 << 20

// LoadFrames reads the captured answers that lines name, each tape once, from the
// script's folder; see Load.
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

// find takes the exchange from its tape.
func (f *Frames) find(t *tape.Tape) error {
	x, ok := t.Find(f.Exchange)
	switch {
	case !ok:
		return fmt.Errorf("the tape %q has no exchange %d", f.File, f.Exchange)
	case x.Lost != "":
		return fmt.Errorf("exchange %d of %q brought no answer: %s", f.Exchange, f.File, x.Lost)
	case x.Status >= http.StatusBadRequest:
		return fmt.Errorf("exchange %d of %q has the status %d; write a fault instead", f.Exchange, f.File, x.Status)
	case len(x.Frames) == 0:
		return fmt.Errorf("exchange %d of %q kept no frames; capture it with --frames, or give its text", f.Exchange, f.File)
	}
	f.loaded = x
	return nil
}

// captured is an answer of a tape, ready to be sent.
type captured struct {
	protocol string
	stream   bool
	frames   []wire.Frame
	answer   wire.Completion
}

// compile decodes the answer, so that recordings have its text and usage.
func (f *Frames) compile() (*captured, error) {
	if f == nil {
		return nil, nil
	}
	x := f.loaded
	if x == nil {
		return nil, fmt.Errorf("the tape %q is not loaded; call Script.LoadFrames first", f.File)
	}
	codec, ok := wire.ForProtocol(x.Protocol)
	if !ok {
		return nil, fmt.Errorf("exchange %d of %q is of the protocol %.60q, which is not known", f.Exchange, f.File, x.Protocol)
	}
	c := &captured{protocol: x.Protocol, stream: strings.HasPrefix(x.ContentType, "text/event-stream")}
	var err error
	if c.answer, err = codec.ReadAnswer(c.stream, x.Body); err != nil {
		return nil, fmt.Errorf("exchange %d of %q: %w", f.Exchange, f.File, err)
	}
	from := 0
	for _, frame := range x.Frames {
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
		return nil, fmt.Errorf("it was captured from %s, and the call is one of %s", c.protocol, codec.Protocol())
	case call.Stream != c.stream:
		return nil, fmt.Errorf("what was captured is %s, and the call asks for %s", streaming(c.stream), streaming(call.Stream))
	}
	return c.frames, nil
}

func streaming(yes bool) string {
	if yes {
		return "a stream"
	}
	return "one document"
}

// frames checks that a captured answer, which is complete, has no other parts beside it.
func (v *validator) frames(path string, a *Answer) {
	if a.Frames == nil {
		return
	}
	others := []answerPart{{"usage", a.Usage != nil}, {"latency", a.Latency != nil}, {"fault", a.Fault != nil}}
	for _, key := range given(append(a.additions(), others...)) {
		v.add(path+"."+key, "a captured answer (frames) goes out as it came; leave out %s, or the frames", key)
	}
	if a.Frames.Exchange < 1 {
		v.add(path+".frames.exchange", "must be at least 1, not %d", a.Frames.Exchange)
	}
	if _, err := localPath(a.Frames.File); err != nil {
		v.add(path+".frames.file", "%q %v", a.Frames.File, err)
	}
}
