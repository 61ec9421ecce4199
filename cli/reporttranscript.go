package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/rehearse-dev/rehearse/agents/loop"
	loopcli "github.com/rehearse-dev/rehearse/agents/loop/cli"
	loopkind "github.com/rehearse-dev/rehearse/agents/loop/kind"
	"github.com/rehearse-dev/rehearse/agents/persist"
	persistcli "github.com/rehearse-dev/rehearse/agents/persist/cli"
	persistkind "github.com/rehearse-dev/rehearse/agents/persist/kind"
	"github.com/rehearse-dev/rehearse/agents/react"
	reactcli "github.com/rehearse-dev/rehearse/agents/react/cli"
	reactkind "github.com/rehearse-dev/rehearse/agents/react/kind"
	"github.com/rehearse-dev/rehearse/agents/stop/hook"
)

// transcriptKind is a kind of transcript that report renders.
type transcriptKind struct {
	of      string
	matches func(path string) bool
	// read returns the report, and whether the work is done; ended is false for a transcript without an end.
	read func(path string) (d document, ended, done bool, err error)
}

var transcriptKinds = []transcriptKind{
	{"a loop", loopcli.IsTranscript, readLoop},
	{"a ReAct agent", reactcli.IsTranscript, readAgent},
	{"an attempt", persistcli.IsAttempt, readAttempt},
	{"the stop guard", hook.IsHistory, readGuard},
}

// transcriptOf returns the kind of the transcript in a file, or nil.
func transcriptOf(path string) *transcriptKind {
	for i := range transcriptKinds {
		if transcriptKinds[i].matches(path) {
			return &transcriptKinds[i]
		}
	}
	return nil
}

func readLoop(path string) (d document, ended, done bool, err error) {
	r, err := loopcli.Read(path)
	if err != nil {
		return d, false, false, err
	}
	return document{loopkind.Document(r), r, r.Tool}, r.Result != nil, r.Result != nil && r.Result.Status == loop.StatusDone, nil
}

func readAgent(path string) (d document, ended, done bool, err error) {
	r, err := reactcli.Read(path)
	if err != nil {
		return d, false, false, err
	}
	return document{reactkind.Document(path, r), r, r.Tool}, r.Result != nil, r.Result != nil && r.Result.Status == react.StatusDone, nil
}

func readAttempt(path string) (d document, ended, done bool, err error) {
	r, err := persistcli.ReadAttempt(path)
	if err != nil {
		return d, false, false, err
	}
	end := r.End()
	return document{persistkind.Document(r), r, tool()}, end != nil, end != nil && end.Name == string(persist.Done), nil
}

// readGuard reads all decisions in the state folder of the guard, as guard --history shows them.
func readGuard(folder string) (d document, ended, done bool, err error) {
	h, err := hook.ReadHistory(context.Background(), folder, time.Time{})
	if err != nil {
		return d, false, false, err
	}
	var first, last time.Time
	if n := len(h.Entries); n > 0 {
		first, last = h.Entries[0].Time, h.Entries[n-1].Time
	}
	return document{historyDocument(h, first, last), h, tool()}, true, true, nil
}

// reportTranscript renders the transcript of an agent.
func (a *app) reportTranscript(kind *transcriptKind, path string, flags reportFlags) error {
	formats := []string{formatTerminal, formatJSON, formatMarkdown, formatComment, formatHTML}
	if flags.verify || !slices.Contains(formats, flags.format) {
		return usage(fmt.Errorf("%s is the transcript of %s, which has no hashes; it has the formats %s", path, kind.of, joined(formats)))
	}
	if flags.failuresOnly {
		return usage(errors.New("--failures-only is for recordings of scenarios"))
	}
	d, ended, done, err := kind.read(path)
	if err != nil {
		return noVerdict(err)
	}
	err = a.output(flags.out, false, path, func(w io.Writer) error {
		if flags.format == formatJSON { // durations in nanoseconds, as in the transcript
			return encodeJSON(w, d.value)
		}
		return a.write(w, d, flags.format)
	})
	switch {
	case err != nil:
		return noVerdict(err)
	case !ended:
		return quiet(exitNoVerdict)
	case !done:
		return quiet(exitFail)
	}
	return nil
}
