package drive

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
	"github.com/rehearse-dev/rehearse/agents/stop/hook/host"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/scenarios/perturb"
)

// hookLimit is how long a hook may take, in real time. It answers in
// milliseconds; a machine under load gets a wide margin.
const hookLimit = 30 * time.Second

// defaultHostCap is how many refusals in a row hosts obey that count them.
const defaultHostCap = 8

// hookDriver plays a host around the guard's hook.
type hookDriver struct {
	base
	host    hook.Host
	hostCap int
}

func newHookDriver(sc scenarios.Scenario, env *Env) (*hookDriver, error) {
	d := &hookDriver{host: hook.Host(sc.Drive.Hook.Host), hostCap: cmp.Or(sc.Drive.Hook.HostCap, defaultHostCap)}
	var err error
	if d.base, err = newBase(sc, "hook", env); err != nil {
		return nil, err
	}
	shown := *sc.Drive.Hook
	shown.Prompt = env.Redactor.Text(shown.Prompt)
	d.head.Limits, err = describe(shown)
	return d, err
}

// Perturbed implements Driver.
func (d *hookDriver) Perturbed(ps []perturb.Perturbation) (Driver, error) {
	return d.depart(d, ps, func(b base) Driver {
		other := *d
		other.base = b
		return &other
	})
}

func (d *hookDriver) Trial(ctx context.Context, n int) (record.Trial, []record.Timing) {
	return d.trial(ctx, n, 0, d.run)
}

func (d *hookDriver) run(ctx context.Context, t *trial, backend llm.Adapter) record.End {
	folder, err := os.MkdirTemp("", "rehearse-hook-")
	if err != nil {
		return harnessError("make a folder for the hook", err)
	}
	t.closers = append(t.closers, func() error { return os.RemoveAll(folder) })
	if err := os.WriteFile(filepath.Join(folder, blocking), nil, 0o600); err != nil {
		return harnessError("prepare the hook's folder", err)
	}
	s := &hosted{driver: d, trial: t, folder: folder, talk: []llm.Message{{Role: llm.User, Content: d.scenario.Drive.Hook.Prompt}}}
	start := t.clock.Now()
	end := s.turns(ctx, t.collector.Wrap(backend))
	end.Duration = t.clock.Now().Sub(start)
	end.Details = strings.ReplaceAll(end.Details, folder, "FOLDER") // its name is not the same twice
	return end
}

// hosted is one session of the host.
type hosted struct {
	driver *hookDriver
	trial  *trial
	folder string
	talk   []llm.Message
	blocks int      // stops refused in a row
	left   []string // steps of the last refusal
}

// patience is how long the host waits for its model.
const patience = 10 * time.Minute

// answer is what the model says next.
func (s *hosted) answer(ctx context.Context, model llm.Backend) (llm.Reply, error) {
	timed, cancel := s.trial.clock.WithTimeout(ctx, patience)
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
			return s.end(scenarios.HookError, 1, n-1, "", "the model did not answer: "+err.Error())
		}
		said, note, err := s.ask(ctx, reply.Text)
		if err != nil {
			return s.end(scenarios.HookError, 1, n, reply.Text, err.Error())
		}
		s.tell(n, reply.Text, said, note)
		switch {
		case !said.Blocked:
			return s.end(scenarios.HookStopped, 0, n, reply.Text, note)
		case s.blocks == s.driver.hostCap:
			return s.end(scenarios.HookOverridden, 8, n, reply.Text, fmt.Sprintf("the host stopped after %d refusals in a row (host_cap)", s.blocks))
		}
		s.blocks++
		s.talk = append(s.talk, reply.Message(), llm.Message{Role: llm.User, Content: said.Reason})
	}
}

func (s *hosted) end(status string, code, n int, text, details string) record.End {
	return record.End{Status: status, ExitCode: code, Iterations: n, Text: text, Details: details}
}

// tell tells of a judgement. The hook says no more than its decision, so what it
// saw is judged once more: it is a pure function of the message.
func (s *hosted) tell(n int, message string, said host.Answer, note string) {
	v := stop.Judge(message, stop.Options{Policy: s.driver.scenario.Drive.Hook.Policy})
	attrs := v.Attrs()
	attrs["allow"], attrs["forced"] = !said.Blocked, said.Blocked && s.blocks < s.driver.hostCap
	attrs["executed"] = stop.Executed(s.left, message)
	s.left = v.Order().Steps
	detail := strings.ReplaceAll(cmp.Or(note, v.Reason), s.folder, "FOLDER")
	s.trial.collector.Tell(event.Event{Kind: event.Verdict, Name: "stop", N: n, Detail: detail, Attrs: attrs})
}

// ask starts the hook as a child process, as the host does, and reads its answer.
// The note is what the hook wrote to standard error.
func (s *hosted) ask(ctx context.Context, message string) (said host.Answer, note string, err error) {
	input, err := s.input(message)
	if err != nil {
		return said, "", err
	}
	drive := s.driver.scenario.Drive.Hook
	argv, env, err := host.Command(s.driver.env.Executable, hook.Config{
		Host: s.driver.host, Policy: drive.Policy, Cap: drive.Cap, State: s.state(), Shadow: drive.Shadow,
	})
	if err != nil {
		return said, "", err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), hookLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(input), &out, &errs
	cmd.Env = append(os.Environ(), env...)
	cmd.WaitDelay = time.Second
	err = cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		return said, "", fmt.Errorf("run the hook: %w", err)
	} else if ok && exit.ExitCode() < 0 {
		return said, "", fmt.Errorf("the hook was ended by force (%w)", err)
	}
	said, err = host.Read(s.driver.host, cmd.ProcessState.ExitCode(), out.Bytes())
	if err != nil {
		return said, "", fmt.Errorf("the host cannot use the hook's answer: %w", err)
	}
	return said, strings.TrimSpace(errs.String()), nil
}

// state is the folder that the hook may write to; one below a file where it is
// to fail.
func (s *hosted) state() string {
	if s.driver.scenario.Drive.Hook.Damage == scenarios.DamageNoState {
		return filepath.Join(s.folder, blocking, "state")
	}
	return filepath.Join(s.folder, "state")
}

// blocking is a file where a folder is wanted.
const blocking = "file"

func (s *hosted) transcript() string { return filepath.Join(s.folder, "transcript.jsonl") }

// input is what the host sends of a stop, damaged as the scenario says.
func (s *hosted) input(message string) ([]byte, error) {
	st := host.Stop{Session: "session-1", Message: message, Blocks: s.blocks}
	if s.driver.host != hook.OpenHands { // it has none
		st.Transcript = s.transcript()
		data, err := host.Transcript(s.driver.host, message)
		if err != nil {
			return nil, err
		}
		if err := os.WriteFile(st.Transcript, data, 0o600); err != nil {
			return nil, fmt.Errorf("write the host's transcript: %w", err)
		}
	}
	switch s.driver.scenario.Drive.Hook.Damage {
	case scenarios.DamageEmpty:
		return nil, nil
	case scenarios.DamageNotJSON:
		return []byte("Segmentation fault (core dumped)\n"), nil
	case scenarios.DamageNoMessage:
		st.Message, st.Transcript = "", ""
	case scenarios.DamageNoTranscript:
		st.Message, st.Transcript = "", filepath.Join(s.folder, "gone.jsonl")
	}
	return host.Input(s.driver.host, st)
}
