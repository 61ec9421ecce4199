package agent

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/rehearse-dev/rehearse/mocks/wire"
)

// faultPlan edits the frames of an answer: its lines of output, and the exit at its end.
type faultPlan func(f fault, output []wire.Frame, exit wire.Frame) []wire.Frame

// faultPlans maps each of mocks.ProcessFaults to its plan. "Some lines" is the number After of
// the fault, by default half of the output.
var faultPlans = map[string]faultPlan{
	// Writes some lines and a message to standard error, and exits with a status (default 1).
	"exit": func(f fault, output []wire.Frame, _ wire.Frame) []wire.Frame {
		message := cmp.Or(f.spec.Message, "fatal: the scripted agent gives up")
		return append(output[:f.after], doing(opStderr, []byte(message+"\n")), exitFrame(cmp.Or(f.spec.Status, 1)))
	},
	// Exits with status 0 and an error in its output.
	"error-in-success": func(f fault, _ []wire.Frame, _ wire.Frame) []wire.Frame {
		return f.codec.failing(f.answer, cmp.Or(f.spec.Message, "the scripted agent could not finish"), 0, 0)
	},
	// Writes nothing and does not exit.
	"hang": func(fault, []wire.Frame, wire.Frame) []wire.Frame {
		return []wire.Frame{{End: wire.Hang}}
	},
	// Writes some lines and does not exit.
	"hang-after-output": func(f fault, output []wire.Frame, _ wire.Frame) []wire.Frame {
		return append(output[:f.after], wire.Frame{End: wire.Hang})
	},
	// Writes some lines and then an endless one.
	"flood": func(f fault, output []wire.Frame, _ wire.Frame) []wire.Frame {
		flood := doing(opFlood, []byte(f.codec.style.flood))
		flood.End = wire.Hang
		return append(output[:f.after], flood)
	},
	// Writes some lines and half of the next one, and exits with status 0.
	"truncated-jsonl": func(f fault, output []wire.Frame, exit wire.Frame) []wire.Frame {
		cut := output[f.after]
		cut.Data = cut.Data[:len(cut.Data)/2]
		return append(output[:f.after], cut, exit)
	},
	// Writes some lines, does not exit, and ignores SIGTERM.
	"ignore-sigterm": func(f fault, output []wire.Frame, _ wire.Frame) []wire.Frame {
		deaf := doing(opSigterm, nil)
		deaf.End = wire.Hang
		return append(output[:f.after], deaf)
	},
	// Answers and exits normally, but leaves a child process that keeps its outputs open.
	"grandchild": func(_ fault, output []wire.Frame, exit wire.Frame) []wire.Frame {
		return append(slices.Insert(output, 0, doing(opGrandchild, nil)), exit)
	},
}

// newFault builds the fault that spec describes.
func newFault(spec wire.FaultSpec) (wire.Fault, error) {
	plan, ok := faultPlans[spec.Kind]
	if !ok {
		return nil, fmt.Errorf("fault kind %q is not one of a process", spec.Kind)
	}
	return fault{spec: spec, plan: plan}.apply, nil
}

// fault is one fault of one answer.
type fault struct {
	spec   wire.FaultSpec
	plan   faultPlan
	codec  codec
	answer wire.Completion
	after  int
}

// apply is a wire.Fault. It cannot show in an answer with too few lines.
func (f fault) apply(c wire.Codec, call wire.Call, answer wire.Completion) ([]wire.Frame, bool) {
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
	return f.plan(f, output, exit), true
}
