package kind

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/agents/stop"
	"github.com/rehearse-dev/rehearse/agents/stop/hook"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// hookLimit is how long a hook may take, in real time. It answers in
// milliseconds; a machine under load gets a wide margin.
const hookLimit = 30 * time.Second

// defaultHostCap is how many refusals in a row hosts obey that count them.
const defaultHostCap = 8

func newDriver(sc scenarios.Scenario, env *drive.Env) (drive.Driver, error) {
	opts := *sc.Drive.Options.(*Options)
	shown := opts
	shown.Prompt = env.Redactor.Text(shown.Prompt)
	return drive.NewAgent(sc, env, drive.Agent{
		Limits: shown,
		Run:    func(ctx context.Context, t *drive.Trial) record.End { return run(ctx, t, opts) },
	})
}

// run plays a host that calls the guard's hook.
func run(ctx context.Context, t *drive.Trial, opts Options) record.End {
	folder, err := os.MkdirTemp("", "rehearse-hook-")
	if err != nil {
		return drive.Failed("make a folder for the hook", err)
	}
	t.Cleanup(func() error { return os.RemoveAll(folder) })
	if err := os.WriteFile(filepath.Join(folder, blocking), nil, 0o600); err != nil {
		return drive.Failed("prepare the hook's folder", err)
	}
	s := &hosted{
		opts: opts, host: hook.Host(opts.Host), hostCap: cmp.Or(opts.HostCap, defaultHostCap),
		trial: t, folder: folder, talk: []llm.Message{{Role: llm.User, Content: opts.Prompt}},
	}
	start := t.Clock.Now()
	end := s.turns(ctx, t.Backend)
	end.Duration = t.Clock.Now().Sub(start)
	end.Details = strings.ReplaceAll(end.Details, folder, "FOLDER") // its name is not the same twice
	return end
}

// hosted is one session of the host.
type hosted struct {
	opts    Options
	host    hook.Host
	hostCap int
	trial   *drive.Trial
	folder  string
	talk    []llm.Message
	blocks  int      // stops refused in a row
	left    []string // steps of the last refusal
}

// patience is the host's timeout for its model.
const patience = 10 * time.Minute

// answer returns the next answer of the model.
func (s *hosted) answer(ctx context.Context, model llm.Backend) (llm.Reply, error) {
	timed, cancel := s.trial.Clock.WithTimeout(ctx, patience)
	defer cancel()
	reply, err := model.Complete(timed, llm.Request{Purpose: "agent", Messages: s.talk})
	if err != nil && clock.Err(ctx) == nil && clock.Err(timed) != nil {
		err = fmt.Errorf("%s: no answer within %s", llm.Timeout, patience)
	}
	return reply, err
}

// turns lets the model answer and asks the hook about it until the agent stops.
func (s *hosted) turns(ctx context.Context, model llm.Backend) record.End {
	for n := 1; ; n++ {
		reply, err := s.answer(ctx, model)
		if err != nil {
			return s.end(statusError, 1, n-1, "", "the model did not answer: "+err.Error())
		}
		said, note, err := s.ask(ctx, reply.Text)
		if err != nil {
			return s.end(statusError, 1, n, reply.Text, err.Error())
		}
		s.emit(n, reply.Text, said, note)
		switch {
		case !said.Blocked:
			return s.end(statusStopped, 0, n, reply.Text, note)
		case s.blocks == s.hostCap:
			return s.end(statusOverridden, 8, n, reply.Text, fmt.Sprintf("the host stopped after %d refusals in a row (host_cap)", s.blocks))
		}
		s.blocks++
		s.talk = append(s.talk, reply.Message(), llm.Message{Role: llm.User, Content: said.Reason})
	}
}

func (s *hosted) end(status string, code, n int, text, details string) record.End {
	return record.End{Status: status, ExitCode: code, Iterations: n, Text: text, Details: details}
}

// emit reports a judgement. The hook returns only its decision, so the message is judged again,
// which is a pure function.
func (s *hosted) emit(n int, message string, said hook.Answer, note string) {
	v := stop.Judge(message, stop.Options{Policy: s.opts.Policy, Request: s.opts.Prompt})
	j, executed := v.Judgement(), stop.Executed(s.left, message)
	j.Allow, j.Forced, j.Executed = !said.Blocked, said.Blocked && s.blocks < s.hostCap, &executed
	s.left = v.Order().Steps
	detail := strings.ReplaceAll(cmp.Or(note, v.Reason), s.folder, "FOLDER")
	s.trial.Sink.Emit(event.New(n, detail, j))
}

// ask starts the hook as a child process, as the host does, and reads its answer.
// The note is the hook's standard error.
func (s *hosted) ask(ctx context.Context, message string) (said hook.Answer, note string, err error) {
	input, err := s.input(message)
	if err != nil {
		return said, "", err
	}
	cfg := hook.Config{Host: s.host, Policy: s.opts.Policy, Cap: s.opts.Cap, State: s.state(), Shadow: s.opts.Shadow}
	argv, env, err := cfg.Command(s.trial.Env.Executable)
	if err != nil {
		return said, "", err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), hookLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(input), &out, &errs
	cmd.Env = append(cmd.Environ(), env...)
	cmd.WaitDelay = time.Second
	err = cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		return said, "", fmt.Errorf("run the hook: %w", err)
	} else if ok && exit.ExitCode() < 0 {
		return said, "", fmt.Errorf("the hook was ended by force (%w)", err)
	}
	said, err = s.host.ReadAnswer(cmd.ProcessState.ExitCode(), out.Bytes())
	if err != nil {
		return said, "", fmt.Errorf("the host cannot use the hook's answer: %w", err)
	}
	return said, strings.TrimSpace(errs.String()), nil
}

// state returns the state folder of the hook, or a path below a file if writing should fail.
func (s *hosted) state() string {
	if s.opts.Damage == damageNoState {
		return filepath.Join(s.folder, blocking, "state")
	}
	return filepath.Join(s.folder, "state")
}

// blocking is the file in place of a folder.
const blocking = "file"

func (s *hosted) transcript() string { return filepath.Join(s.folder, "transcript.jsonl") }

// input returns the host's input for a stop, with the damage that the scenario asks for.
func (s *hosted) input(message string) ([]byte, error) {
	st := hook.Stop{Session: "session-1", Message: message, Request: s.opts.Prompt, Blocks: s.blocks}
	if s.host != hook.OpenHands { // it has none
		st.Transcript = s.transcript()
		data, err := s.host.Transcript(s.opts.Prompt, message)
		if err != nil {
			return nil, err
		}
		if err := os.WriteFile(st.Transcript, data, 0o600); err != nil {
			return nil, fmt.Errorf("write the host's transcript: %w", err)
		}
	}
	switch s.opts.Damage {
	case damageEmpty:
		return nil, nil
	case damageNotJSON:
		return []byte("Segmentation fault (core dumped)\n"), nil
	case damageNoMessage:
		st.Message, st.Transcript = "", ""
	case damageNoTranscript:
		st.Message, st.Transcript = "", filepath.Join(s.folder, "gone.jsonl")
	}
	return s.host.Input(st)
}
