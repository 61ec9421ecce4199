package incident

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
	"github.com/rehearse-dev/rehearse/mocks"
	"github.com/rehearse-dev/rehearse/mocks/capture"
	"github.com/rehearse-dev/rehearse/redact"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// Options configures Write.
type Options struct {
	// Name of the scenario; by default that of NameOf.
	Name string
	// Drive is the mapping under drive, without turns; nil if the agent is not known.
	Drive map[string]any
	// Match selects the conditions on requests; by default the texts if the file has the requests, and
	// only the order for coding agents, whose requests contain more than their sessions.
	Match capture.Matching
	// Redactor replaces secrets; nil replaces the well-known forms only.
	Redactor *redact.Redactor
	// Priced reports whether the model is in the price table.
	Priced func(model string) bool
	// Version of the program.
	Version string
}

// Scenario is a written scenario.
type Scenario struct {
	Name string
	Text []byte
	// Notes describe what the scenario could not take from the file.
	Notes []string
	// Incomplete is true if calls of the conversation are missing.
	Incomplete bool
}

// NameOf returns the default name of a conversation's scenario.
func NameOf(c *Conversation) string {
	if c.Format == Recording { // its id is the name of a scenario and the number of the trial
		return "incident/" + slug(c.ID)
	}
	agent := slug(cmp.Or(c.Coding, c.Agent, string(c.Format)))
	id := slug(c.ID)
	if len(id) > 8 {
		id = strings.Trim(id[len(id)-8:], "-.")
	}
	return "incident/" + strings.Trim(agent+"-"+id, "-")
}

// maxSlug limits the names of agents and of recorded trials.
const maxSlug = 80

var notInName = lazyregexp.New(`[^a-z0-9]+`)

// slug returns a text as a part of a scenario's name.
func slug(s string) string {
	return strings.Trim(sanitize.Prefix(notInName().ReplaceAllString(strings.ToLower(s), "-"), maxSlug), "-")
}

// CheckMatch returns an error if a conversation does not have the requests that the matching compares.
func CheckMatch(all []Conversation, m capture.Matching) error {
	if m == "" || m == capture.InOrder {
		return nil
	}
	for i := range all {
		if c := &all[i]; c.Coding != "" {
			return fmt.Errorf("%s is a session of %s, which has no requests to compare; match by %s, the default",
				sanitize.Line(c.File, 200), c.Agent, capture.InOrder)
		}
	}
	return nil
}

// Write returns the scenario that repeats a conversation.
func Write(c Conversation, o Options) (Scenario, error) {
	if err := CheckMatch([]Conversation{c}, o.Match); err != nil {
		return Scenario{}, fmt.Errorf("import: %w", err)
	}
	secrets := redaction{with: o.Redactor, seen: map[string]bool{}, kinds: map[string]int{}}
	c = secrets.conversation(c)
	match := o.Match
	if match == "" {
		match = capture.ByText
		if c.Coding != "" {
			match = capture.InOrder
		}
	}
	total := len(c.Turns)
	script, cut := c.script(match)
	lines := len(script.Replies) + len(script.Rules)
	if lines == 0 {
		return Scenario{}, &NoAnswerError{c.File, c.ID, c.Notes}
	}
	s := Scenario{Name: cmp.Or(o.Name, NameOf(&c))}
	calls := answered(&script)
	s.Incomplete = cut || calls < total || c.Partial
	if c.Derived {
		c.Notes = append(c.Notes, "The turns are the user messages of the prompts; the agent may have built these from something else.")
	}
	servers := c.servers(match)
	if note := c.copyNote(o.Drive != nil, servers != nil); note != "" {
		c.Notes = append(c.Notes, note)
	}
	s.Notes = c.Notes
	w := writer{}
	w.head(&c, &secrets, o.Version)
	w.section(nil, map[string]any{"name": s.Name})
	w.section(nil, map[string]any{"about": about(&c)})
	w.drive(&c, o.Drive)
	w.backend(&script, o.Priced)
	if servers != nil {
		w.section(nil, map[string]any{"mcp": servers})
	}
	w.expect(&c, calls, c.Done && !s.Incomplete && !c.Gaps)
	if w.err != nil {
		return s, fmt.Errorf("write scenario %s: %w", s.Name, w.err)
	}
	s.Text = w.Bytes()
	switch left := o.Redactor.Find(string(s.Text)); {
	case len(s.Text) > yamlsrc.MaxBytes:
		hint := "import a shorter conversation"
		if match != capture.InOrder {
			hint = "try --match order, which leaves out conditions, or " + hint
		}
		return s, fmt.Errorf("write scenario %s: it has %d bytes, and at most %d (1 MiB) are allowed; %s", s.Name, len(s.Text),
			yamlsrc.MaxBytes, hint)
	case len(left) > 0:
		return s, fmt.Errorf("write scenario %s: a secret (%s) would be left in it", s.Name, left[0].Kind)
	}
	return s, nil
}

// NoAnswerError reports a conversation without an answer that a script could repeat.
type NoAnswerError struct {
	File, ID string
	// Notes describe the conversation.
	Notes []string
}

// Error returns the conversation, and its notes on lines of their own.
func (e *NoAnswerError) Error() string {
	lines := []string{fmt.Sprintf("import %s: conversation %s has no answer that a script could repeat",
		sanitize.Line(e.File, 200), sanitize.Line(e.ID, 60))}
	for _, note := range e.Notes {
		lines = append(lines, sanitize.Line(note, 500))
	}
	return strings.Join(lines, "\n  ")
}

// answered returns the number of calls that a script answers.
func answered(s *mocks.Script) int {
	n := 0
	for _, l := range slices.Concat(s.Replies, s.Rules) {
		n += max(l.Times, 1)
	}
	return n
}

// about describes the conversation.
func about(c *Conversation) string {
	asked := "an unknown message"
	if len(c.Users) > 0 {
		asked = fmt.Sprintf("%q", sanitize.Line(c.Users[0], 80))
	}
	return fmt.Sprintf("An incident: %s answers %s with %s and %s.", cmp.Or(sanitize.Line(c.Agent, 40), "the agent"), asked,
		format.Plural(len(c.Turns), "model call"), c.tools())
}

// writer writes a scenario section by section, for comments before them.
type writer struct {
	bytes.Buffer
	err error
}

// section writes a key with its comments.
func (w *writer) section(comments []string, v any) {
	for _, c := range comments {
		fmt.Fprintf(w, "# %s\n", sanitize.Line(c, 500))
	}
	text, err := yaml.Dump(v, yaml.WithIndent(2), yaml.WithCompactSeqIndent(false), yaml.WithLineWidth(-1))
	w.err = errors.Join(w.err, err)
	w.Write(text)
}

func (w *writer) head(c *Conversation, secrets *redaction, version string) {
	w.WriteString("# yaml-language-server: $schema=https://raw.githubusercontent.com/rehearse-dev/rehearse/main/schema/scenario.json\n")
	when := ""
	if c.Began.Year() > 1970 {
		when = ", which began on " + c.Began.UTC().Format("2006-01-02 15:04 UTC")
	}
	fmt.Fprintf(w, "# Imported by rehearse %s from %s (%s)%s.\n", sanitize.Line(version, 40), sanitize.Line(c.ID, 80), c.Format, when)
	fmt.Fprintf(w, "# %s Read the texts before you commit this file.\n", secrets)
	for _, note := range c.Notes {
		fmt.Fprintf(w, "# Note: %s\n", sanitize.Line(note, 500))
	}
}

// drive writes how the agent is driven. What is not known is left for the user to fill in.
func (w *writer) drive(c *Conversation, drive map[string]any) {
	users := c.Users
	var comments []string
	if len(users) == 0 {
		users = []string{}
		comments = append(comments, "TODO: the user's messages are not known; write them below turns.")
	}
	switch {
	case drive != nil:
	case c.Coding != "":
		options := map[string]any{"agent": c.Coding}
		if len(c.Files) > 0 {
			options["files"] = c.Files
		}
		if slices.ContainsFunc(c.Turns, func(t Turn) bool { return t.Failure != nil }) {
			options["retries"] = 0 // a session does not have the attempts of the client
		}
		drive = map[string]any{"coding": options}
	default:
		drive = map[string]any{"command": map[string]any{"run": []string{}}}
		comments = append(comments, `TODO: the agent's program is not known; write it below run, such as [python3, "{here}/../agent.py"].`)
	}
	for kind, options := range drive {
		merged, ok := options.(map[string]any)
		if !ok {
			w.err = errors.Join(w.err, fmt.Errorf("drive: the options of %s must be a mapping", kind))
			return
		}
		merged = maps.Clone(merged)
		if _, given := merged["turns"]; !given {
			merged["turns"] = users
		}
		drive = map[string]any{kind: merged}
	}
	w.section(comments, map[string]any{"drive": drive})
}

func (w *writer) backend(script *mocks.Script, priced func(string) bool) {
	b := scenarios.Backend{Script: *script}
	b.Unpriced = priced != nil && !priced(b.Model)
	var comments []string
	switch {
	case b.Model == "":
		comments = append(comments, "The model is not known, and so its cost is not, either.")
	case b.Unpriced:
		comments = append(comments, "The model has no price in the table, so its cost is unknown.")
	}
	w.section(comments, map[string]any{"backend": b})
}

// expect writes the expectations. A run whose end is not known may have had more calls.
func (w *writer) expect(c *Conversation, calls int, done bool) {
	expect := map[string]any{"calls": calls, "status": scenarios.AppDone}
	var comments []string
	if !done {
		expect = map[string]any{"calls": map[string]any{"at_least": calls}}
		comments = append(comments, "TODO: how the agent should end is not known; add a status, such as done.")
	}
	if len(c.Expect) > 0 {
		expect["that"] = c.Expect
	}
	w.section(comments, map[string]any{"expect": expect})
}

func joined(list []string) string {
	const most = 5
	if len(list) > most {
		return sanitize.Line(strings.Join(list[:most], ", "), 200) + ", ..."
	}
	return sanitize.Line(strings.Join(list, ", "), 200)
}
