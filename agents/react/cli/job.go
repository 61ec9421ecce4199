package cli

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/rehearse-dev/rehearse/agents/react"
	"github.com/rehearse-dev/rehearse/agents/react/action"
	"github.com/rehearse-dev/rehearse/agents/react/agentfile"
	"github.com/rehearse-dev/rehearse/agents/react/mcp"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/fixtures"
	"github.com/rehearse-dev/rehearse/internal/input"
	"github.com/rehearse-dev/rehearse/internal/suggest"
	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
)

// Job is an agent with its task.
type Job struct {
	Agent     *agentfile.Agent
	Agents    map[string]*agentfile.Agent // to delegate to, by id
	Task      react.Task
	Workspace string
	Folder    string // of the agents to delegate to
	Gate      action.Gate
	Servers   map[string]agentfile.Server // MCP servers of the flags, by name
	// Wrapper precedes the command lines of actions and MCP servers, such as a sandbox. It may be nil.
	Wrapper []string
}

// Files are the sources of a job.
type Files struct {
	Agent     string
	Workspace string
	Agents    string    // folder of the agents to delegate to; default: that of Agent
	Task      string    // YAML; "-" is Stdin; may be empty
	Stdin     io.Reader // for Task
	Words     string    // the task in words; overrides that of Task
}

// Read reads a job. An invalid file of another agent is only a warning, unless the agent delegates to
// it.
func (f Files) Read(ctx context.Context, warnings io.Writer) (*Job, error) {
	if err := checkFolder("workspace", f.Workspace); err != nil {
		return nil, err
	}
	agent, err := readAgent(f.Agent)
	if err != nil {
		return nil, err
	}
	job := &Job{Agent: agent, Workspace: f.Workspace, Folder: f.Agents}
	if job.Agents, err = f.agents(agent, warnings); err != nil {
		return nil, err
	}
	if f.Task != "" {
		data, name, err := f.task(ctx)
		if err != nil {
			return nil, err
		}
		if _, found := yamlsrc.Decode(name, data, &job.Task); len(found) > 0 {
			return nil, found
		}
	}
	if f.Words != "" {
		job.Task.Do = f.Words
	}
	return job, nil
}

func (f Files) task(ctx context.Context) (data []byte, name string, err error) {
	if f.Task != "-" {
		data, err = input.ReadFile("input", f.Task, yamlsrc.MaxBytes)
		return data, f.Task, err
	}
	if data, err = input.ReadAll(ctx, f.Stdin, yamlsrc.MaxBytes); err != nil {
		err = fmt.Errorf("read the input from standard input: %w", err)
	}
	return data, "standard input", err
}

// agents returns the agents of the folder, by id, with the agent itself.
func (f Files) agents(agent *agentfile.Agent, warnings io.Writer) (map[string]*agentfile.Agent, error) {
	folder := f.Agents
	if folder == "" {
		folder = filepath.Dir(f.Agent)
	} else if err := checkFolder("agents", folder); err != nil {
		return nil, err
	}
	agents := map[string]*agentfile.Agent{agent.ID: agent}
	names, err := agentFiles(folder)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if input.SameFile(name, f.Agent) {
			continue
		}
		other, err := readAgent(name)
		if err != nil {
			fmt.Fprintf(warnings, "warning: nothing can be delegated to %s, which is not valid (see rehearse check)\n", name)
			continue
		}
		if first, taken := agents[other.ID]; taken {
			return nil, fmt.Errorf("%s and %s both have the id %q; change one", first.File, name, other.ID)
		}
		agents[other.ID] = other
	}
	for _, id := range agent.Delegates {
		if agents[id] == nil {
			return nil, fmt.Errorf("%s delegates to %q, and no valid agent file in %s has that id%s; name another folder with --agents",
				f.Agent, id, folder, suggest.Hint(id, slices.Sorted(maps.Keys(agents))))
		}
	}
	return agents, nil
}

// checkFolder returns an error unless name, the value of a flag, is a folder.
func checkFolder(flag, name string) error {
	info, err := os.Stat(name)
	if err != nil {
		return fmt.Errorf("--%s: %w", flag, err)
	}
	if !info.IsDir() {
		return fmt.Errorf("--%s: %s is not a folder", flag, name)
	}
	return nil
}

// actions returns the actions of an agent in the workspace, with those of MCP servers.
func (j *Job) actions(servers *mcp.Pool) func(*agentfile.Agent) (action.Set, error) {
	return func(agent *agentfile.Agent) (action.Set, error) {
		set, err := action.New(agent, action.Options{
			Workspace: j.Workspace, Gate: j.Gate, Wrapper: j.Wrapper, Servers: true, Clock: clock.Real(),
		})
		if err != nil {
			return nil, err
		}
		return servers.Actions(agent, set, j.Gate)
	}
}

// Example is a shipped agent in a folder of its own.
type Example struct{ Folder, Agent, Task, Workspace, Script, Transcript string }

// CopyExample copies a shipped agent to a temporary folder.
func CopyExample(name string) (*Example, error) {
	files, err := fixtures.Agent(name)
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "rehearse-"+name+"-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for the example: %w; choose another one with TMPDIR", err)
	}
	if err := os.CopyFS(folder, files); err != nil {
		return nil, fmt.Errorf("copy the example to %s: %w", folder, err)
	}
	return &Example{
		Folder: folder, Agent: filepath.Join(folder, name+agentfile.Suffix), Task: filepath.Join(folder, "task.yaml"),
		Workspace: filepath.Join(folder, "workspace"), Script: filepath.Join(folder, "script.yaml"),
		Transcript: filepath.Join(folder, "transcript.jsonl"),
	}, nil
}
