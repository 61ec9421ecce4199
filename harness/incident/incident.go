// Package incident reads what is left of an agent's run (a trace, a session file, a recording) and
// writes a scenario that repeats it: the model's answers as a script, and expectations.
//
// Each format has a reader that returns conversations in one neutral form; one writer makes scenarios
// of them. Nothing is invented: what a file does not contain is left out and noted.
package incident

import (
	"fmt"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/internal/input"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/llm"
)

// Format is a file format of incidents.
type Format string

// The formats. Auto recognises one of the others by the content of the file.
const (
	Auto      Format = "auto"
	OTLP      Format = "otlp"      // OpenTelemetry spans and logs with attributes gen_ai.*, in OTLP's JSON
	Claude    Format = "claude"    // a session of Claude Code
	Codex     Format = "codex"     // a rollout of Codex
	Recording Format = "recording" // a recording of rehearse run
	Langfuse  Format = "langfuse"  // observations of Langfuse
	Promptfoo Format = "promptfoo" // results of promptfoo eval
)

// Formats lists the formats.
func Formats() []Format {
	return []Format{Auto, OTLP, Claude, Codex, Recording, Langfuse, Promptfoo}
}

// names returns the names of the formats that files have.
func names() []string {
	var all []string
	for _, f := range Formats()[1:] {
		all = append(all, string(f))
	}
	return all
}

// MaxBytes limits the size of a file.
const MaxBytes = 256 << 20

// Conversation is what one run of an agent and its model said to each other.
type Conversation struct {
	// ID is the trace, session or trial, as the file names it.
	ID string
	// Traces are the ids of the traces that the conversation is a part of, if they are not its ID.
	Traces []string
	Format Format
	File   string
	parts  []string // the files of a session of Claude Code: its own and those of subagents
	Began  time.Time
	// Agent is the name of the agent or service; empty if unknown.
	Agent string
	// Coding is the coding agent that wrote the file: "claude" or "codex"; else empty.
	Coding string
	// Folder is the folder in which a coding agent worked, Files the known content of its files at
	// the start, by their paths in it.
	Folder string
	Files  map[string]string
	// Users are the user's messages. Derived is true if they were taken from the prompts, which an
	// agent may have built from something else.
	Users   []string
	Derived bool
	// Turns are the calls of the model, in the order in which they began.
	Turns []Turn
	// Done is true if the run is known to have ended well.
	Done bool
	// Gaps is true if parts of the file could not be read, so the run may have had more calls.
	Gaps bool
	// Partial is true if the file is known to lack calls of the run.
	Partial bool
	// EachAttempt is true if failed attempts that the agent's client repeated are turns, too.
	EachAttempt bool
	// Scenario is the scenario file of a recorded run, Servers whether it has MCP servers.
	Scenario string
	Servers  bool
	// ServerCalls are the calls of the tools of MCP servers, in order of arrival.
	ServerCalls []ServerCall
	// Expect are expressions that the file demands of the answer.
	Expect []string
	// Notes describe what the file does not contain.
	Notes []string
}

// Turn is a call of the model.
type Turn struct {
	// Messages is the request; empty if the file does not contain it.
	Messages []llm.Message
	Reply    llm.Reply
	Thinking string
	// Failure is the error of a failed call.
	Failure      *Failure
	Began, Ended time.Time
	// Missing is true if the file does not contain the answer.
	Missing bool
	// Unread are the types of the parts of the answer that are not understood.
	Unread []string
	asked  int // number of the user's messages before it in a session; 0 for one of a subagent
}

// Failure is the error of a call.
type Failure struct {
	Status  int // of HTTP; 0 if unknown
	Message string
	// Fault is the kind of the scripted fault that caused it; empty if there was none.
	Fault string
}

// Finding is a part of a file that was not, or only partly, used.
type Finding struct {
	File string
	// Line counts from 1; 0 for the file as a whole.
	Line    int
	Message string
}

// String returns the finding with its position.
func (f Finding) String() string {
	at := sanitize.Line(f.File, 200)
	if f.Line > 0 {
		at = fmt.Sprintf("%s:%d", at, f.Line)
	}
	return at + ": " + sanitize.Line(f.Message, 500)
}

// readers has the reader of each format.
var readers = map[Format]func(*source) []Conversation{
	OTLP: readOTLP, Claude: readClaude, Codex: readCodex,
	Recording: readRecording, Langfuse: readLangfuse, Promptfoo: readPromptfoo,
}

// Read reads the conversations of files, which belong together: spans and logs may be in different
// files. With a session of Claude Code, those of its subagents are read. The error is that of one of the names that cannot be
// read at all; an unreadable file of a subagent is a finding.
func Read(names []string, format Format) ([]Conversation, []Finding, error) {
	var files []file
	for _, name := range names {
		data, err := input.ReadFile("input", name, MaxBytes)
		if err != nil {
			return nil, nil, err
		}
		files = append(files, file{name: name, data: data})
	}
	if format == Auto || format == Claude {
		return parseSessions(files, format)
	}
	return parse(files, format)
}

// parse reads the conversations of files in memory, those of one format together.
func parse(files []file, format Format) ([]Conversation, []Finding, error) {
	sources := map[Format]*source{}
	var order []*source
	for _, f := range files {
		docs, found, err := documents(f)
		if err != nil {
			return nil, nil, fmt.Errorf("import %s: %w", f.name, err)
		}
		is := format
		if is == Auto {
			is = detect(docs)
		}
		if is == "" {
			return nil, nil, fmt.Errorf("import %s: the file is in none of the formats %s", f.name, strings.Join(names(), ", "))
		}
		s := sources[is]
		if s == nil {
			s = &source{format: is}
			sources[is] = s
			order = append(order, s)
		}
		s.docs = append(s.docs, docs...)
		s.findings = append(s.findings, found...)
		s.files = append(s.files, f)
	}
	var all []Conversation
	var findings []Finding
	for _, s := range order {
		conversations := readers[s.format](s)
		for i := range conversations {
			conversations[i].Format = s.format
			s.noteGaps(&conversations[i])
		}
		all = append(all, conversations...)
		findings = append(findings, s.findings...)
	}
	return all, findings, nil
}

// source is the content of the files of one format.
type source struct {
	format   Format
	docs     []document
	files    []file
	findings []Finding
}

type file struct {
	name string
	data []byte
}

// report adds a finding about a document.
func (s *source) report(d document, format string, args ...any) {
	s.findings = append(s.findings, Finding{d.file, d.line, fmt.Sprintf(format, args...)})
}
