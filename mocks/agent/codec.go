package agent

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/mocks/wire"
)

// codec implements the "protocol" of a command-line agent: a request is an invocation, each frame of
// an answer is an action of the process, and the last frame is its exit.
type codec struct {
	style style
	price func(model string, usage llm.Usage) (usd float64, ok bool)
	args  []string // of the invocation
}

var _ wire.Codec = codec{}

// usageError is the type of error for an invocation that the real program rejects.
const usageError = "usage_error"

// Protocol implements wire.Codec.
func (codec) Protocol() string { return "process" }

// Dialect implements wire.Codec.
func (codec) Dialect() wire.Dialect { return wire.Dialect{NewFault: newFault} }

// Decode reads an invocation.
func (c codec) Decode(body []byte) (wire.Call, *wire.APIError) {
	var h hello
	if err := json.Unmarshal(body, &h); err != nil {
		return wire.Call{}, &wire.APIError{Type: usageError, Message: err.Error()}
	}
	in, err := c.style.read(h)
	if err != nil {
		return wire.Call{}, &wire.APIError{Type: usageError, Message: err.Error()}
	}
	call := wire.Call{Request: llm.Request{Model: in.model, Stream: true}, AnyTool: true}
	if in.system != "" {
		call.Messages = append(call.Messages, llm.Message{Role: llm.System, Content: in.system})
	}
	call.Messages = append(call.Messages, llm.Message{Role: llm.User, Content: in.prompt})
	return call, nil
}

// Encode renders an answer. The time to the first token passes before its first content; the time
// of all tokens is spread over the content.
func (c codec) Encode(_ wire.Call, answer wire.Completion) []wire.Frame {
	a := c.act(answer)
	if answer.Refusal != "" {
		a.Text, a.refused = answer.Refusal, true
	}
	c.style.answer(&a)
	return append(timed(a.lines, answer), exitFrame(a.exit))
}

// EncodeError renders a provider's error as the agent reports it, with exit status 1, or the agent's
// status for invalid usage.
func (c codec) EncodeError(e *wire.APIError) []wire.Frame {
	if e.Type == usageError {
		return []wire.Frame{
			doing(opStderr, []byte("error: "+e.Message+"\n")), exitFrame(c.style.usageStatus),
		}
	}
	message := e.Message
	if e.RetryAfter > 0 {
		message += fmt.Sprintf(" Please try again in %gs.", e.RetryAfter.Seconds())
	}
	return c.failing(wire.Completion{}, message, e.Status, 1)
}

// failing renders an answer that ends with an error in the output.
func (c codec) failing(answer wire.Completion, message string, status, exit int) []wire.Frame {
	a := c.act(answer)
	a.failure, a.status, a.exit = message, status, exit
	c.style.answer(&a)
	return append(timed(a.lines, answer), exitFrame(exit))
}

func (c codec) act(answer wire.Completion) act {
	a := act{Completion: answer, args: c.args}
	if c.price != nil && answer.Model != "" { // an error costs nothing
		if usd, ok := c.price(answer.Model, answer.Usage); ok {
			a.usd = &usd
		}
	}
	return a
}

// act is an answer that a style renders as lines.
type act struct {
	wire.Completion
	refused bool
	usd     *float64
	args    []string // of the invocation
	// failure is reported instead of success, with the provider's HTTP status if it is not 0,
	// and the exit status. A style sets it for an answer at which the real program fails.
	failure string
	status  int
	exit    int
	lines   []line
}

// line is a line of output.
type line struct {
	data    []byte
	content bool // takes time
	stderr  bool
}

// event adds a JSON event; content is true for output of the model, which takes time.
func (a *act) event(content bool, v object) {
	data, err := json.Marshal(v)
	if err != nil {
		panic("agent: encode an event: " + err.Error()) // events have only basic types
	}
	a.lines = append(a.lines, line{data: append(data, '\n'), content: content})
}

// object is a JSON object; its keys are written in order.
type object = map[string]any

// timed returns the frames of lines, with the delays of the answer.
func timed(lines []line, answer wire.Completion) []wire.Frame {
	contents := 0
	for _, l := range lines {
		if l.content {
			contents++
		}
	}
	frames := make([]wire.Frame, len(lines))
	delay := answer.First
	for i, l := range lines {
		frames[i] = doing(opStdout, l.data)
		if l.stderr {
			frames[i] = doing(opStderr, l.data)
		}
		if l.content {
			frames[i].Delay = delay + answer.PerToken*time.Duration(answer.Usage.Output)/time.Duration(contents)
			delay = 0
		}
	}
	if contents == 0 && len(frames) > 0 {
		frames[len(frames)-1].Delay = answer.First
	}
	return frames
}

// opHeader is the header of a frame with the action of the process.
const opHeader = "Process"

func doing(o op, data []byte) wire.Frame {
	return wire.Frame{Header: http.Header{opHeader: {string(o)}}, Data: data}
}

func exitFrame(status int) wire.Frame {
	f := doing(opExit, nil)
	f.Status = status
	return f
}

// orderOf returns the order in a frame; Op may be empty.
func orderOf(f wire.Frame) order {
	o := order{Op: op(f.Header.Get(opHeader)), Data: f.Data, Status: f.Status}
	if o.Op == "" && len(f.Data) > 0 {
		o.Op = opStdout
	}
	return o
}
