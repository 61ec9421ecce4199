package agentfile

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/internal/suggest"
	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
)

// MaxBytes is the largest size of an agent file.
const MaxBytes = 256 << 10

const (
	// maxFound is the largest number of errors reported for one file.
	maxFound = 100
	// maxNesting is the largest number of marks of quotations and lists in a line. More would
	// be slow to parse.
	maxNesting = 1000

	defaultIterations = 5
	defaultTimeout    = quantity.Duration(time.Minute)
	maxTimeout        = quantity.Duration(time.Hour)
)

// standard are the actions of every agent, implemented by package action.
var standard = []string{
	"analyze", "search", "generate", "validate", "transform", "compare",
	"request_info", "delegate", "escalate",
}

// names matches the valid names of agents, actions and inputs.
var names = lazyregexp.New(`^[a-z][a-z0-9_-]{0,63}$`)

const namesAre = "a small letter, then at most 63 small letters, digits, \"-\" or \"_\""

// placeholder matches the place of an input in a command.
var placeholder = lazyregexp.New(`\{([^{}]*)\}`)

// loader collects the errors of a file.
type loader struct {
	doc   *yamlsrc.Document
	found yamlsrc.Diagnostics
}

// Load parses an agent file with a name. The error is a yamlsrc.Diagnostics with all errors and their
// positions.
func Load(file string, data []byte) (*Agent, error) {
	a, found := load(file, data)
	if len(found) == 0 {
		return a, nil
	}
	found.Sort()
	if more := len(found) - maxFound; more > 0 {
		found = append(found[:maxFound], yamlsrc.Diagnostic{File: file, Message: fmt.Sprintf("further errors: %d", more)})
	}
	return nil, found.In(data)
}

// load parses a file as far as possible and collects its errors.
func load(file string, data []byte) (*Agent, yamlsrc.Diagnostics) {
	head, body, problem := split(file, data)
	if problem != nil {
		return nil, yamlsrc.Diagnostics{*problem}
	}
	var f Front
	doc, found := yamlsrc.Decode(file, head, &f)
	l := &loader{doc: doc, found: found}
	a := &Agent{
		ID: f.ID, Description: f.Description, Model: f.Model, MaxIterations: cmp.Or(f.MaxIterations, defaultIterations),
		Delegates: f.Delegates, File: file,
	}
	if problem := nesting(file, data, body); problem != nil {
		return nil, append(l.found, *problem)
	}
	c := readCycle(file, data, body)
	l.found = append(l.found, c.found...)
	a.Body, a.Thoughts, a.Done, a.Triggers = c.body, texts(c.items[thoughts]), texts(c.items[done]), texts(c.items[triggers])
	if doc.Has("") { // the front matter could be parsed
		l.head(&f)
		l.contract(&f, a)
		l.approval(&f, a)
		l.servers(&f, a)
		a.Actions = l.actions(&f, c.items[actions])
	}
	return a, l.found
}

// split returns the front matter and the offset of the text after it. The first line of the front
// matter is empty, so that it has the line numbers of the file.
func split(file string, data []byte) (head []byte, body int, problem *yamlsrc.Diagnostic) {
	whole := func(line int, message, expected string) *yamlsrc.Diagnostic {
		return &yamlsrc.Diagnostic{File: file, Line: line, Column: min(line, 1), Message: message, Expected: expected}
	}
	if len(data) > MaxBytes {
		return nil, 0, whole(0, fmt.Sprintf("the file has %d bytes; at most %d are allowed", len(data), MaxBytes), "")
	}
	first, _, _ := bytes.Cut(data, []byte("\n"))
	if line := bytes.TrimPrefix(first, []byte("\ufeff")); string(bytes.TrimRight(line, " \t\r")) != "---" {
		return nil, 0, whole(1, "the file does not begin with front matter", `a line "---", then the agent's id and contract`)
	}
	at, number := len(first)+1, 2
	for ; at < len(data); number++ {
		line, _, _ := bytes.Cut(data[at:], []byte("\n"))
		if string(bytes.TrimRight(line, " \t\r")) == "---" {
			head = append([]byte("\n"), data[min(len(first)+1, at):at]...)
			if len(bytes.TrimSpace(head)) == 0 {
				return nil, 0, whole(1, "the front matter is empty", "the agent's id and contract")
			}
			return head, min(at+len(line)+1, len(data)), utf8Problem(file, data[at:], number)
		}
		at += len(line) + 1
	}
	return nil, 0, whole(1, "the front matter that begins here has no end", `a line "---" after it`)
}

// utf8Problem reports a byte after the front matter that is not UTF-8.
func utf8Problem(file string, rest []byte, line int) *yamlsrc.Diagnostic {
	if utf8.Valid(rest) {
		return nil
	}
	for text := range bytes.Lines(rest) {
		if !utf8.Valid(text) {
			column := 1
			for r, size := utf8.DecodeRune(text); r != utf8.RuneError || size > 1; r, size = utf8.DecodeRune(text) {
				text = text[size:]
				column++
			}
			return &yamlsrc.Diagnostic{File: file, Line: line, Column: column, Message: "found a byte that is not UTF-8"}
		}
		line++
	}
	return nil
}

// nesting reports a line of the Markdown that is nested too deeply to be parsed fast.
func nesting(file string, data []byte, body int) *yamlsrc.Diagnostic {
	line := 1 + bytes.Count(data[:body], []byte("\n"))
	for text := range bytes.Lines(data[body:]) {
		if marks := len(text) - len(bytes.TrimLeft(text, " \t>-+*0123456789.)")); marks > maxNesting {
			return &yamlsrc.Diagnostic{File: file, Line: line, Column: maxNesting + 1, Message: "quotations and lists are nested too deeply here"}
		}
		line++
	}
	return nil
}

// wrong adds an error about the value at path.
func (l *loader) wrong(path, message, nearest string) {
	l.found = append(l.found, l.doc.At(path, message, nearest))
}

func (l *loader) head(f *Front) {
	if l.doc.Has("id") && !names().MatchString(f.ID) {
		l.wrong("id", fmt.Sprintf("%q cannot name an agent; use %s", clip(f.ID), namesAre), "")
	}
	seen := make(map[string]bool)
	for i, id := range f.Delegates {
		path := fmt.Sprintf("delegates[%d]", i)
		switch {
		case !names().MatchString(id):
			l.wrong(path, fmt.Sprintf("%q cannot name an agent; use %s", clip(id), namesAre), "")
		case id == f.ID:
			l.wrong(path, "an agent cannot delegate to itself", "")
		case seen[id]:
			l.wrong(path, fmt.Sprintf("the agent %q is named twice", id), "")
		}
		seen[id] = true
	}
}

func (l *loader) contract(f *Front, a *Agent) {
	c := f.Contract
	switch {
	case !l.doc.Has("contract"):
		l.wrong("contract", `the agent has no contract; say under "contract" what goes in (inputs) and what comes out (output)`, "")
		return
	case c == nil:
		return // the decoder reported that the value is missing
	case len(c.Inputs)+len(c.InputSchema)+len(c.Output)+len(c.Constraints) == 0:
		l.wrong("contract", "the contract is empty; give inputs, input_schema, output or constraints", "")
		return
	}
	l.inputs("contract.inputs", c.Inputs)
	a.Contract = Contract{Inputs: c.Inputs, Constraints: c.Constraints}
	a.Contract.InputSchema = l.schema("contract.input_schema", c.InputSchema)
	a.Contract.Output = l.schema("contract.output", c.Output)
}

// inputs validates the names of inputs.
func (l *loader) inputs(path string, inputs []Input) {
	seen := make(map[string]bool)
	for i, in := range inputs {
		at := fmt.Sprintf("%s[%d].name", path, i)
		switch {
		case !l.doc.Has(at): // reported by the decoder
		case !names().MatchString(in.Name):
			l.wrong(at, fmt.Sprintf("%q cannot name an input; use %s", clip(in.Name), namesAre), "")
		case seen[in.Name]:
			l.wrong(at, fmt.Sprintf("the input %q is named twice", in.Name), "")
		}
		seen[in.Name] = true
	}
}

// actions joins the commands of the front matter and the list of the section.
func (l *loader) actions(f *Front, listed []item) []Action {
	var all []Action
	known := sortedKeys(f.Actions)
	section := make(map[string]item, len(listed))
	for _, it := range listed {
		c, ok := f.Actions[it.id]
		first, twice := section[it.id]
		switch {
		case twice:
			l.found = append(l.found, it.wrong(fmt.Sprintf("the action %q is listed twice; first on line %d", it.id, first.line), ""))
			continue
		case slices.Contains(standard, it.id):
			l.found = append(l.found, it.wrong(fmt.Sprintf("%q is a standard action; every agent has it", it.id), ""))
		case !ok:
			l.found = append(l.found, it.wrong(fmt.Sprintf("the action %q has no command under actions in the front matter (%s)",
				it.id, l.place("actions")), suggest.Nearest(it.id, known)))
		}
		section[it.id] = it
		all = append(all, Action{
			ID: it.id, Description: cmp.Or(it.text, c.Description), Command: c.Command, Inputs: c.Inputs, Timeout: cmp.Or(c.Timeout, defaultTimeout),
		})
	}
	for _, id := range known {
		l.action(id, f.Actions[id])
		if _, ok := section[id]; !ok && !slices.Contains(standard, id) {
			l.wrong(yamlsrc.Join("actions", id), fmt.Sprintf(
				"the action %q is not listed under %q in REACT_CYCLE; add a line \"- `%s`: what it is for\"",
				clip(id), headings[actions][0], clip(id)), suggest.Nearest(id, ids(listed)))
		}
	}
	return all
}

// place returns the position of a value of the front matter, or of its parent.
func (l *loader) place(path string) string {
	d := l.doc.At(path, "", "")
	return fmt.Sprintf("%s:%d:%d", d.File, max(d.Line, 1), max(d.Column, 1))
}

// action validates one command of the front matter.
func (l *loader) action(id string, c Command) {
	path := yamlsrc.Join("actions", id)
	switch {
	case slices.Contains(standard, id):
		l.wrong(path, fmt.Sprintf("the action %q would hide the standard one; give it another name", id), "")
	case !names().MatchString(id):
		l.wrong(path, fmt.Sprintf("%q cannot name an action; use %s", clip(id), namesAre), "")
	}
	if d := c.Timeout; l.doc.Has(path+".timeout") && (d <= 0 || d > maxTimeout) {
		l.wrong(path+".timeout", fmt.Sprintf("the timeout %s is out of range; use more than 0s and at most 1h", d), "")
	}
	l.inputs(path+".inputs", c.Inputs)
	if l.doc.Has(path+".command") && (len(c.Command) == 0 || strings.TrimSpace(c.Command[0]) == "") {
		l.wrong(path+".command", "the command is empty; name a program and its arguments", "")
		return
	}
	var inputs []string
	for _, in := range c.Inputs {
		inputs = append(inputs, in.Name)
	}
	used := l.placeholders(path, c.Command, inputs)
	for i, name := range inputs {
		if !used[name] && name != "" {
			l.wrong(fmt.Sprintf("%s.inputs[%d]", path, i), fmt.Sprintf(
				"the command does not use the input %q; write {%s} where it belongs", clip(name), clip(name)), "")
		}
	}
}

// placeholders validates the placeholders of a command and returns the inputs that it uses.
func (l *loader) placeholders(path string, command, inputs []string) map[string]bool {
	used := make(map[string]bool)
	for i, arg := range command {
		at := fmt.Sprintf("%s.command[%d]", path, i)
		if strings.ContainsRune(arg, 0) {
			l.wrong(at, "an argument cannot hold the character NUL", "")
		}
		for _, m := range placeholder().FindAllStringSubmatch(arg, -1) {
			switch {
			case !names().MatchString(m[1]): // braces of another language, such as awk's
			case !slices.Contains(inputs, m[1]):
				l.wrong(at, fmt.Sprintf("{%s} is not an input of the action", m[1]), suggest.Nearest(m[1], inputs))
			case i == 0:
				l.wrong(at, fmt.Sprintf("the program must not depend on an input; {%s} may only be an argument", m[1]), "")
			case interpreter(command, i) != "":
				l.wrong(at, fmt.Sprintf("{%s} is part of code that %s runs, so that its value could become a command; "+
					"pass it as a later argument of its own, and read that in the code: "+
					"\"$0\" or \"$1\" in a shell, sys.argv in Python", m[1], interpreter(command, i)), "")
			}
			used[m[1]] = true
		}
	}
	return used
}

// IsName reports whether s is a valid name of an agent, an action or an input.
func IsName(s string) bool { return names().MatchString(s) }

// Fill replaces each {name} of an argument by its value, or by nothing. Braces around
// another text are not changed.
func Fill(arg string, values map[string]string) string {
	return placeholder().ReplaceAllStringFunc(arg, func(m string) string {
		if name := m[1 : len(m)-1]; names().MatchString(name) {
			return values[name]
		}
		return m
	})
}
