package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/react"
	"github.com/rehearse-dev/rehearse/agents/react/agentfile"
	"github.com/rehearse-dev/rehearse/fixtures"
	"github.com/rehearse-dev/rehearse/internal/input"
	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
)

// reactJob is an agent with what it is asked for.
type reactJob struct {
	agent     *agentfile.Agent
	agents    map[string]*agentfile.Agent // to delegate to, by id
	task      react.Task
	workspace string
}

// reactJob reads what the arguments and flags name.
func (a *app) reactJob(ctx context.Context, args []string, flags *reactFlags) (reactJob, error) {
	job := reactJob{workspace: flags.workspace}
	switch {
	case flags.example != "" && len(args) > 0:
		return job, usage(errors.New("--example brings its own agent; leave the file or the flag out"))
	case flags.example != "":
		folder, err := a.copyExample(flags)
		if err != nil {
			return job, err
		}
		args = []string{filepath.Join(folder, flags.example+agentSuffix)}
		flags.input, job.workspace = filepath.Join(folder, "task.yaml"), filepath.Join(folder, "workspace")
	case len(args) == 0:
		return job, usage(errors.New("name an agent file, or try a shipped agent with --example " + firstExample()))
	}
	if err := checkFolder("workspace", job.workspace); err != nil {
		return job, err
	}
	agent, err := readAgent(args[0])
	if err != nil {
		return job, err
	}
	job.agent = agent
	if job.agents, err = a.colleagues(agent, args[0], flags.agents); err != nil {
		return job, err
	}
	job.task, err = a.task(ctx, flags)
	return job, err
}

// task is what the agent is asked for.
func (a *app) task(ctx context.Context, flags *reactFlags) (react.Task, error) {
	var task react.Task
	if flags.input != "" {
		data, name, err := a.taskData(ctx, flags.input)
		if err != nil {
			return task, err
		}
		if _, found := yamlsrc.Decode(name, data, &task); len(found) > 0 {
			return task, usage(found)
		}
	}
	if flags.words != "" {
		task.Do = flags.words
	}
	return task, nil
}

func (a *app) taskData(ctx context.Context, file string) (data []byte, name string, err error) {
	if file != "-" {
		if data, err = input.ReadFile("input", file, yamlsrc.MaxBytes); err != nil {
			return nil, "", usage(err)
		}
		return data, file, nil
	}
	data, err = input.ReadAll(ctx, a.stdin, yamlsrc.MaxBytes)
	switch {
	case ctx.Err() != nil:
		return nil, "", quiet(exitInterrupted)
	case err != nil:
		return nil, "", usage(fmt.Errorf("read the input from standard input: %w", err))
	}
	return data, "standard input", nil
}

// colleagues are the agents of a folder, by id, the agent itself among them. One
// that is broken is only a warning, unless the agent names it: it may have
// nothing to do with this run.
func (a *app) colleagues(agent *agentfile.Agent, file, folder string) (map[string]*agentfile.Agent, error) {
	if folder == "" {
		folder = filepath.Dir(file)
	} else if err := checkFolder("agents", folder); err != nil {
		return nil, err
	}
	agents := map[string]*agentfile.Agent{agent.ID: agent}
	names, err := agentFiles(folder)
	if err != nil {
		return nil, usage(err)
	}
	for _, name := range names {
		if input.SameFile(name, file) {
			continue
		}
		other, err := readAgent(name)
		if err != nil {
			fmt.Fprintf(a.stderr, "warning: nothing can be delegated to %s, which is not valid (see rehearse check)\n", name)
			continue
		}
		if first, taken := agents[other.ID]; taken {
			return nil, usage(fmt.Errorf("%s and %s both have the id %q; change one", first.File, name, other.ID))
		}
		agents[other.ID] = other
	}
	for _, id := range agent.Delegates {
		if agents[id] == nil {
			return nil, usage(fmt.Errorf("%s delegates to %q, and no valid agent file in %s has that id%s; name another folder with --agents",
				file, id, folder, didYouMean(id, ids(agents))))
		}
	}
	return agents, nil
}

func ids(agents map[string]*agentfile.Agent) []string {
	var ids []string
	for id := range agents {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// copyExample copies a shipped agent to a temporary folder and plays its backend
// unless the user chose one.
func (a *app) copyExample(flags *reactFlags) (string, error) {
	names := fixtures.Agents()
	if !slices.Contains(names, flags.example) {
		return "", notAmong("shipped agent", flags.example, names)
	}
	files, err := fixtures.Agent(flags.example)
	if err != nil {
		return "", noVerdict(err)
	}
	folder, err := os.MkdirTemp("", "rehearse-"+flags.example+"-")
	if err != nil {
		return "", usage(fmt.Errorf("make a folder for the example: %w; choose another one with TMPDIR", err))
	}
	if err := os.CopyFS(folder, files); err != nil {
		return "", usage(fmt.Errorf("copy the example to %s: %w", folder, err))
	}
	if flags.backend == "" && flags.script == "" {
		flags.script = filepath.Join(folder, "script.yaml")
	}
	if flags.transcript == "" {
		flags.transcript = filepath.Join(folder, "transcript.jsonl")
	}
	fmt.Fprintf(a.stderr, "the example's files are copied to %s\n", folder)
	return folder, nil
}

func exampleNames() string { return strings.Join(fixtures.Agents(), ", ") }

// firstExample is the shipped agent that examples name.
func firstExample() string { return fixtures.Agents()[0] }
