package wire

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/internal/suggest"
)

// Fault encodes an answer with something wrong in it. ok is false if the fault cannot show in
// this answer, such as a missing [DONE] in an answer that is not streamed: it then returns the
// frames of the intended answer, and the fault has not fired. Status and connection faults
// ignore the answer; the others change it.
type Fault func(codec Codec, call Call, answer Completion) (frames []Frame, ok bool)

// FaultSpec describes a fault. Options that do not apply to its kind must be zero.
type FaultSpec struct {
	Kind string
	// Status is the HTTP status, 400 to 599 (default 500).
	Status int
	// RetryAfter is the wait that the error asks for; 0 sends no such header.
	RetryAfter time.Duration
	// Message replaces the stock text of an error or of a refusal.
	Message string
	// After is the number of chunks of the stream that are delivered before the fault fires;
	// by default half of them (slow-drip: none). A body that is not streamed is one chunk,
	// and half of it is half of its bytes.
	After *int
	// Delay is the pause before each chunk (default 1s).
	Delay time.Duration
}

// faultKind is one kind of fault.
type faultKind struct {
	name  string
	build func(FaultSpec) Fault // of a valid spec
	// options are the options that apply to the kind, as scenario files spell them.
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

// NewFault builds the fault that spec describes. An error lists the valid kinds or options.
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

// validate rejects options that do not apply to the kind, and values out of range.
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

// plainFault replaces any answer, and always fires.
func plainFault(replace func(codec Codec, answer Completion) []Frame) Fault {
	return func(codec Codec, _ Call, answer Completion) ([]Frame, bool) { return replace(codec, answer), true }
}

// answerFault edits the neutral answer before it is encoded. Edit must not change what the
// answer points to, and must change nothing visible if it returns false.
func answerFault(edit func(codec Codec, call Call, answer Completion) (Completion, bool)) Fault {
	return func(codec Codec, call Call, answer Completion) ([]Frame, bool) {
		edited, ok := edit(codec, call, answer)
		return codec.Encode(call, edited), ok
	}
}

// frameFault edits the frames of the encoded answer: a head and its chunks if the call is
// streamed, otherwise one frame. Edit may change them in place, but only if it returns true.
func frameFault(edit func(codec Codec, call Call, frames []Frame) ([]Frame, bool)) Fault {
	return func(codec Codec, call Call, answer Completion) ([]Frame, bool) {
		frames := codec.Encode(call, answer)
		if edited, ok := edit(codec, call, frames); ok {
			return edited, true
		}
		return frames, false
	}
}

// delivered returns how many of total chunks come before the fault; false if the fault would
// come after the last one.
func delivered(total int, after *int) (int, bool) {
	n := total / 2
	if after != nil {
		n = *after
	}
	return n, n < total
}
