package cli

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/rehearse-dev/rehearse/agents/react"
	"github.com/rehearse-dev/rehearse/agents/react/cli"
)

// readPast reads the transcript of --continue, and takes the flags of the backend from it.
func (r *reactFlags) readPast(args []string) error {
	switch {
	case !r.resume && r.answer != "":
		return errors.New("--answer needs --continue, with the transcript of the run that asked")
	case !r.resume:
		return nil
	case len(args) > 0:
		r.transcript = args[0]
	default:
		last, err := lastTranscript("react")
		if err != nil {
			return err
		}
		r.transcript = last
	}
	past, err := cli.ReadPast(r.transcript)
	if err != nil {
		return err
	}
	r.past = past
	if r.backend == "" && r.script == "" {
		r.command = cmp.Or(r.command, past.Command)
		r.backend = past.Backend
	}
	r.model = cmp.Or(r.model, past.Model)
	return nil
}

// lastTranscript returns the newest transcript of a kind of agent in the folder of runs.
func lastTranscript(agent string) (string, error) {
	found, err := filepath.Glob(filepath.Join(runsFolder, agent+"-*.jsonl"))
	if err != nil || len(found) == 0 {
		return "", errors.New("--continue: there is no transcript in " + runsFolder + "; name one")
	}
	return slices.Max(found), nil // the names have the time
}

// session begins the transcript of a job, or continues one.
func (r *reactFlags) session(job *cli.Job, o react.Options) (*cli.Session, error) {
	if r.past != nil {
		return cli.Continue(r.transcript, tool(), job, o, r.answer, redactor())
	}
	begin := cli.Begin{Tool: tool(), Backend: r.backend, Command: r.command, Model: r.model}
	return cli.Open(transcriptFile(r.transcript, "react"), begin, job, o, redactor())
}

// needsAnswer returns an error if the run that is continued waits for an answer and nobody can give one.
func (r *reactFlags) needsAnswer(atTerminal bool) error {
	if r.past == nil || r.answer != "" || atTerminal || !r.past.Waits() {
		return nil
	}
	return fmt.Errorf("continue %s: it ended with a question; answer it with --answer", r.transcript)
}
