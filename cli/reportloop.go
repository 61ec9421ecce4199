package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/rehearse-dev/rehearse/agents/loop"
	loopcli "github.com/rehearse-dev/rehearse/agents/loop/cli"
	loopkind "github.com/rehearse-dev/rehearse/agents/loop/kind"
)

// reportLoop renders the transcript of a loop.
func (a *app) reportLoop(path string, flags reportFlags) error {
	formats := []string{formatTerminal, formatJSON, formatMarkdown, formatComment, formatHTML}
	if flags.verify || !slices.Contains(formats, flags.format) {
		return usage(fmt.Errorf("%s is the transcript of a loop, which has no hashes; it has the formats %s", path, joined(formats)))
	}
	if flags.failuresOnly {
		return usage(errors.New("--failures-only is for recordings of scenarios"))
	}
	record, err := loopcli.Read(path)
	if err != nil {
		return noVerdict(err)
	}
	err = a.output(flags.out, false, path, func(w io.Writer) error {
		if flags.format == formatJSON { // durations in nanoseconds, as in the transcript
			return encodeJSON(w, record)
		}
		return a.write(w, document{loopkind.Document(record), record, record.Tool}, flags.format)
	})
	if err != nil {
		return noVerdict(err)
	}
	switch {
	case record.Result == nil:
		return quiet(exitNoVerdict)
	case record.Result.Status != loop.StatusDone:
		return quiet(exitFail)
	}
	return nil
}
