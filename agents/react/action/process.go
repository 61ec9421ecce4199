package action

import (
	"context"
	"errors"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/internal/child"
)

const (
	// maxOutput is the largest output of a command in bytes. The first headSize and the last
	// tailSize bytes are reported.
	maxOutput = 1 << 20
	headSize  = 3 << 10
	tailSize  = 4 << 10
	// grace is the time between SIGTERM and SIGKILL, and the time for which programs that
	// left the group may hold the output open.
	grace = 2 * time.Second
)

var (
	errFlood = errors.New("it wrote too much")
	errTime  = errors.New("its time was up")
)

// output keeps the beginning and the end of a command's output, and calls flood when it is
// too large.
type output struct {
	head  []byte
	tail  child.Tail
	total int
	flood func()
}

// Write implements io.Writer.
func (o *output) Write(p []byte) (int, error) {
	o.head = append(o.head, p[:min(len(p), headSize-len(o.head))]...)
	o.total += len(p)
	if o.total > maxOutput {
		o.flood()
		return 0, errFlood
	}
	return o.tail.Write(p)
}

// String returns the output, without the middle of a long one.
func (o *output) String() string {
	switch {
	case o.total <= headSize:
		return o.beginning()
	case o.total <= tailSize:
		return o.tail.String()
	}
	return o.beginning() + "\n… the middle is left out …\n" + o.tail.String()
}

// beginning returns the first part of the output. Of a command that was stopped, only this is reported:
// the rest depends on the speed of the machine.
func (o *output) beginning() string {
	if o.total == 0 {
		return "(no output)"
	}
	return strings.TrimSpace(strings.ToValidUTF8(string(o.head), "\uFFFD"))
}

// run runs a command in the workspace folder to its end, with both outputs in the order of
// writing. Cause in the ending is errFlood, errTime or the reason why ctx ended; the error
// is that of starting.
func (w *work) run(argv []string, timeout time.Duration, start func(*exec.Cmd) error) (*output, child.Ending, error) {
	ctx, stop := context.WithCancelCause(w.ctx)
	defer stop(nil)
	limited, cancel := w.clock.WithTimeout(ctx, timeout)
	defer cancel()
	out := &output{tail: child.Tail{Size: tailSize}, flood: func() { stop(errFlood) }}
	end, err := child.Run(limited, child.Program{
		Argv: slices.Concat(w.wrapper, argv), Dir: w.folder, Env: Environment(), Stdout: out, Grace: grace, Start: start,
	})
	if end.Cause != nil && clock.Err(ctx) == nil {
		end.Cause = errTime
	}
	return out, end, err
}
