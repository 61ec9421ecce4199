package agent

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/mocks/wire"
)

// FaultKind documents one fault of a process.
type FaultKind struct {
	// Name is the kind's name in scripts.
	Name string
	// Doc describes the fault in one line.
	Doc string
	// plan edits the frames of the intended answer. output are its lines, exit its
	// last frame.
	plan func(f fault, output []wire.Frame, exit wire.Frame) []wire.Frame
}

var faultKinds = []FaultKind{
	{
		"exit", "ends with another exit status than 0 (status, default 1) and a message on standard error, after some lines",
		func(f fault, output []wire.Frame, _ wire.Frame) []wire.Frame {
			message := cmp.Or(f.spec.Message, "fatal: the scripted agent gives up")
			return append(output[:f.after], doing(opStderr, []byte(message+"\n")), exitFrame(cmp.Or(f.spec.Status, 1)))
		},
	},
	{
		"error-in-success", "ends with exit status 0 and an error in its output",
		func(f fault, _ []wire.Frame, _ wire.Frame) []wire.Frame {
			return f.codec.failing(f.answer, cmp.Or(f.spec.Message, "the scripted agent could not finish"), 0, 0)
		},
	},
	{
		"hang", "writes nothing and does not end",
		func(fault, []wire.Frame, wire.Frame) []wire.Frame {
			return []wire.Frame{{End: wire.Hang}}
		},
	},
	{
		"hang-after-output", "writes some lines and does not end",
		func(f fault, output []wire.Frame, _ wire.Frame) []wire.Frame {
			return append(output[:f.after], wire.Frame{End: wire.Hang})
		},
	},
	{
		"flood", "writes some lines and then one line for ever",
		func(f fault, output []wire.Frame, _ wire.Frame) []wire.Frame {
			flood := doing(opFlood, []byte(f.codec.style.flood))
			flood.End = wire.Hang
			return append(output[:f.after], flood)
		},
	},
	{
		"truncated-jsonl", "writes some lines, half of the next one, and ends with exit status 0",
		func(f fault, output []wire.Frame, exit wire.Frame) []wire.Frame {
			cut := output[f.after]
			cut.Data = cut.Data[:len(cut.Data)/2]
			return append(output[:f.after], cut, exit)
		},
	},
	{
		"ignore-sigterm", "writes some lines, does not end, and survives SIGTERM",
		func(f fault, output []wire.Frame, _ wire.Frame) []wire.Frame {
			deaf := doing(opSigterm, nil)
			deaf.End = wire.Hang
			return append(output[:f.after], deaf)
		},
	},
	{
		"grandchild", "answers and ends well, and leaves a process behind that holds its outputs open",
		func(_ fault, output []wire.Frame, exit wire.Frame) []wire.Frame {
			return append(slices.Insert(output, 0, doing(opGrandchild, nil)), exit)
		},
	},
}

// FaultKinds lists the faults of a process. "Some lines" are
// the fault's After, by default half of the output.
func FaultKinds() []FaultKind { return slices.Clone(faultKinds) }

// newFault builds the fault that spec describes.
func newFault(spec wire.FaultSpec) (wire.Fault, error) {
	i := slices.IndexFunc(faultKinds, func(k FaultKind) bool { return k.Name == spec.Kind })
	if i < 0 {
		names := make([]string, len(faultKinds))
		for i, k := range faultKinds {
			names[i] = k.Name
		}
		return nil, fmt.Errorf("no process fault %q; the kinds are %s", spec.Kind, strings.Join(names, ", "))
	}
	return fault{spec: spec, kind: faultKinds[i]}, nil
}

// fault is one fault of one answer.
type fault struct {
	spec   wire.FaultSpec
	kind   FaultKind
	codec  codec
	answer wire.Completion
	after  int
}

// Apply implements wire.Fault. It is not ok where the answer has too few lines.
func (f fault) Apply(c wire.Codec, call wire.Call, answer wire.Completion) ([]wire.Frame, bool) {
	own, isAgent := c.(codec)
	frames := c.Encode(call, answer)
	if !isAgent {
		return frames, false
	}
	f.codec, f.answer = own, answer
	output, exit := slices.Clone(frames[:len(frames)-1]), frames[len(frames)-1]
	f.after = len(output) / 2
	if f.spec.After != nil {
		f.after = *f.spec.After
	}
	if f.after > len(output) || (f.after == len(output) && f.spec.Kind == "truncated-jsonl") {
		return frames, false
	}
	return f.kind.plan(f, output, exit), true
}
