package wire

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/internal/suggest"
)

// Fault is one thing that goes wrong with an answer.
type Fault interface {
	// Apply encodes answer as codec does, with the fault in it. ok is false
	// where the fault cannot show in this answer (a missing [DONE] where nothing
	// is streamed): the frames are then those of the intended answer, and the fault must
	// not be counted as fired. The status and connection faults need no answer;
	// the others change the given one, which may be empty.
	Apply(codec Codec, call Call, answer Completion) (frames []Frame, ok bool)
}

// FaultSpec describes a fault. Options that a kind does not have must
// be zero.
type FaultSpec struct {
	Kind string
	// Status is the HTTP status, 400 to 599 (default 500).
	Status int
	// RetryAfter is the wait that the error asks for; none if 0.
	RetryAfter time.Duration
	// Message replaces the stock text of an error or of a refusal.
	Message string
	// After is how many chunks of the stream are delivered before the fault
	// fires. Nil means half of them (slow-drip: none). A body that is not
	// streamed is one chunk, and half of it is half of its bytes.
	After *int
	// Delay is the pause before each chunk (default 1s).
	Delay time.Duration
}

// faultKind is one kind of fault.
type faultKind struct {
	name  string
	build func(FaultSpec) Fault // may trust the spec
	// options are the fields of FaultSpec that the kind takes, as scenario files spell them.
	options []string
}

// The names of the options in scenario files.
const (
	optStatus     = "status"
	optRetryAfter = "retry_after"
	optMessage    = "message"
	optAfter      = "after"
	optDelay      = "delay"
)

var faultKinds = []faultKind{
	{"status", newStatus, []string{optStatus, optRetryAfter, optMessage}},
	{"timeout", newTimeout, nil},
	{"reset-before-headers", newResetBeforeHeaders, nil},
	{"reset-after-headers", newResetAfterHeaders, nil},
	{"reset-mid-stream", newResetMidStream, []string{optAfter}},
	{"truncated-stream", newTruncatedStream, []string{optAfter}},
	{"missing-done", newMissingDone, nil},
	{"error-event", newErrorEvent, []string{optStatus, optMessage, optAfter}},
	{"malformed-json", newMalformedJSON, []string{optAfter}},
	{"wrong-content-type", newWrongContentType, nil},
	{"empty-choices", newEmptyChoices, nil},
	{"empty-text", newEmptyText, nil},
	{"finish-length", newFinishLength, []string{optAfter}},
	{"content-filter", newContentFilter, nil},
	{"refusal", newRefusal, []string{optMessage}},
	{"slow-drip", newSlowDrip, []string{optAfter, optDelay}},
	{"duplicate-chunk", newDuplicateChunk, []string{optAfter}},
	{"wrong-usage", newWrongUsage, nil},
	{"invalid-tool-arguments", newInvalidToolArguments, nil},
	{"not-utf8", newNotUTF8, nil},
}

// FaultKinds lists the kinds of fault, in the order of the documentation.
func FaultKinds() []string {
	names := make([]string, len(faultKinds))
	for i, k := range faultKinds {
		names[i] = k.name
	}
	return names
}

// NewFault builds the fault that spec describes. The error names the kinds or
// the options that there are.
func NewFault(spec FaultSpec) (Fault, error) {
	i := slices.IndexFunc(faultKinds, func(k faultKind) bool { return k.name == spec.Kind })
	if i < 0 {
		return nil, unknownKind(spec.Kind)
	}
	if err := spec.validate(faultKinds[i]); err != nil {
		return nil, fmt.Errorf("fault %s: %w", spec.Kind, err)
	}
	return faultKinds[i].build(spec), nil
}

func unknownKind(name string) error {
	names := FaultKinds()
	hint := "the kinds are " + strings.Join(names, ", ")
	if near := suggest.Nearest(name, names); near != "" {
		hint = fmt.Sprintf("did you mean %q? %s", near, hint)
	}
	return fmt.Errorf("fault kind %.64q is not known; %s", name, hint)
}

// validate refuses options that the kind does not have, and values out of range.
func (s FaultSpec) validate(k faultKind) error {
	given := []struct {
		option string
		set    bool
	}{
		{optStatus, s.Status != 0},
		{optRetryAfter, s.RetryAfter != 0},
		{optMessage, s.Message != ""},
		{optAfter, s.After != nil},
		{optDelay, s.Delay != 0},
	}
	for _, g := range given {
		if g.set && !slices.Contains(k.options, g.option) {
			return fmt.Errorf("option %q has no meaning here; %s", g.option, k.optionsText())
		}
	}
	switch {
	case s.Status != 0 && (s.Status < 400 || s.Status > 599):
		return fmt.Errorf("status is %d; an error status is 400 to 599", s.Status)
	case s.RetryAfter < 0:
		return fmt.Errorf("retry_after is %s; it cannot be negative", s.RetryAfter)
	case s.Delay < 0:
		return fmt.Errorf("delay is %s; it cannot be negative", s.Delay)
	case s.After != nil && *s.After < 0:
		return fmt.Errorf("after is %d; it cannot be negative", *s.After)
	case s.After != nil && *s.After == 0 && k.name == "duplicate-chunk":
		return fmt.Errorf("after is 0; a chunk must be delivered before it can be repeated, so give 1 or more")
	}
	return nil
}

func (k faultKind) optionsText() string {
	if len(k.options) == 0 {
		return "this kind takes no options"
	}
	return "this kind takes " + strings.Join(k.options, ", ")
}

// plainFault replaces the whole answer, whatever it is.
type plainFault func(codec Codec, answer Completion) []Frame

// Apply implements Fault; a plain fault always fires.
func (f plainFault) Apply(codec Codec, _ Call, answer Completion) ([]Frame, bool) {
	return f(codec, answer), true
}

// answerFault edits the neutral answer before it is encoded. It must not change
// what the given answer points to, nor anything that shows if it returns false.
type answerFault func(codec Codec, call Call, answer Completion) (Completion, bool)

// Apply implements Fault.
func (f answerFault) Apply(codec Codec, call Call, answer Completion) ([]Frame, bool) {
	edited, ok := f(codec, call, answer)
	return codec.Encode(call, edited), ok
}

// frameFault edits the frames of the encoded answer: one frame, or if the call
// is streamed a head and its chunks. It may change them in place, but only if it
// returns true.
type frameFault func(codec Codec, call Call, frames []Frame) ([]Frame, bool)

// Apply implements Fault.
func (f frameFault) Apply(codec Codec, call Call, answer Completion) ([]Frame, bool) {
	frames := codec.Encode(call, answer)
	if edited, ok := f(codec, call, frames); ok {
		return edited, true
	}
	return frames, false
}

// delivered returns how many of total chunks come before the fault. It is false if
// the fault would come after the last one, that is, never.
func delivered(total int, after *int) (int, bool) {
	n := total / 2
	if after != nil {
		n = *after
	}
	return n, n < total
}
