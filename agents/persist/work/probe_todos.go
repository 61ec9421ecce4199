package work

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
)

// maxFile is the largest file that is read, in bytes.
const maxFile = 1 << 20

// todoProbe answers a check by a list of todos.
type todoProbe struct{ file, dir string }

// todo is one entry of the list.
type todo struct {
	text   string
	status status
}

// status is the status of a todo.
type status int

const (
	pending status = iota
	inProgress
	settled // done or cancelled
)

func (t todoProbe) probe(context.Context) plan.CheckResult {
	data, err := t.read()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return unknown("there is no file %s in the folder of the plan; create it, or remove the probe", t.file)
	case err != nil:
		return unknown("the todos cannot be read: %v", reason(err))
	}
	parse := parseMarkdown
	if strings.EqualFold(path.Ext(t.file), ".json") {
		parse = parseJSON
	}
	list, err := parse(data)
	if err != nil {
		return unknown("the todos of %s cannot be parsed: %v", t.file, err)
	}
	return judgeTodos(t.file, list)
}

// read reads the file. A link cannot lead out of the folder.
func (t todoProbe) read() ([]byte, error) {
	root, err := os.OpenRoot(t.dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return readFile(root, t.file)
}

// readFile reads a regular file of at most maxFile bytes.
func readFile(root *os.Root, name string) ([]byte, error) {
	info, err := root.Stat(name)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular(): // opening a pipe would block
		return nil, fmt.Errorf("%s is not a regular file", name)
	}
	file, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var data bytes.Buffer
	data.Grow(int(min(info.Size(), maxFile)) + bytes.MinRead)
	if _, err := data.ReadFrom(io.LimitReader(file, maxFile+1)); err != nil {
		return nil, err
	}
	if data.Len() > maxFile {
		return nil, fmt.Errorf("%s has more than %d bytes", name, maxFile)
	}
	return data.Bytes(), nil
}

// reason returns an error without the name of the system call.
func reason(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("%s: %w", e.Path, e.Err)
	}
	return err
}

func judgeTodos(file string, list []todo) plan.CheckResult {
	var open findings
	working := 0
	for _, t := range list {
		switch t.status {
		case pending:
			open.add(t.text)
		case inProgress:
			working++
			open.add(t.text + " (in progress)")
		case settled:
		}
	}
	if open.count == 0 {
		return plan.CheckResult{Verdict: plan.Pass, Details: fmt.Sprintf("%s: none of %s open", file, format.Plural(len(list), "todo"))}
	}
	details := fmt.Sprintf("%s: %d of %s open", file, open.count, format.Plural(len(list), "todo"))
	if working > 0 {
		details += fmt.Sprintf(", %d in progress", working)
	}
	return plan.CheckResult{Verdict: plan.Fail, Details: details, Items: open.list()}
}

// markdown parses blocks only, so "[x]" is never a link.
var markdown = parser.NewParser(parser.WithBlockParsers(
	util.Prioritized(parser.NewThematicBreakParser(), 200),
	util.Prioritized(parser.NewListParser(), 300),
	util.Prioritized(parser.NewListItemParser(), 400),
	util.Prioritized(parser.NewCodeBlockParser(), 500),
	util.Prioritized(parser.NewATXHeadingParser(), 600),
	util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
	util.Prioritized(parser.NewBlockquoteParser(), 800),
	util.Prioritized(parser.NewHTMLBlockParser(), 900),
	util.Prioritized(parser.NewParagraphParser(), 1000),
))

// parseMarkdown returns the list items that begin with a checkbox: [ ], [x], or [~] and [/] for an
// item in progress. Any other mark means pending. Code and comments are ignored.
func parseMarkdown(data []byte) ([]todo, error) {
	if err := shallow(data); err != nil {
		return nil, err
	}
	var list []todo
	doc := markdown.Parse(text.NewReader(data))
	err := ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if item, ok := n.(*ast.ListItem); ok && entering {
			if t, ok := checkbox(item, data); ok {
				list = append(list, t)
			}
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		return nil, err
	}
	if len(list) == 0 && strings.TrimSpace(string(data)) != "" {
		return nil, errors.New(`it has no checkbox, such as "- [ ] write the tests"`)
	}
	return list, nil
}

// checkbox parses the first line of a list item.
func checkbox(item *ast.ListItem, data []byte) (todo, bool) {
	block := item.FirstChild()
	if block == nil || block.Type() != ast.TypeBlock || block.Lines().Len() == 0 {
		return todo{}, false
	}
	switch block.Kind() {
	case ast.KindTextBlock, ast.KindParagraph:
	default:
		return todo{}, false
	}
	first := block.Lines().At(0)
	line := []rune(strings.TrimSpace(string(first.Value(data))))
	if len(line) < 3 || line[0] != '[' || line[2] != ']' || len(line) > 3 && line[3] != ' ' && line[3] != '\t' {
		return todo{}, false
	}
	t := todo{text: strings.TrimSpace(string(line[3:]))}
	switch line[1] {
	case 'x', 'X', '✓', '✔':
		t.status = settled
	case '~', '/':
		t.status = inProgress
	}
	return t, true
}

// maxNesting is the deepest nesting of lists and quotes. For each line the parser visits all that
// are open.
const maxNesting = 100

// opener matches the beginning of a quote or of a list item.
var opener = lazyregexp.New(`>|[-*+.)][ \t]`)

// shallow returns an error if a line is nested too deep.
func shallow(data []byte) error {
	for line := range strings.Lines(string(data)) {
		marks := line[:len(line)-len(strings.TrimLeft(line, "> \t-*+.)0123456789"))]
		if len(opener().FindAllString(marks, maxNesting+1)) > maxNesting {
			return fmt.Errorf("a line is nested more than %d deep", maxNesting)
		}
	}
	return nil
}

// parseJSON parses the lists of coding agents: an array of objects with content and status, or an
// object with such an array under "todos".
func parseJSON(data []byte) ([]todo, error) {
	var file struct{ Todos *[]entry }
	var err error
	if trimmed := strings.TrimSpace(string(data)); strings.HasPrefix(trimmed, "[") {
		err = json.Unmarshal(data, &file.Todos)
	} else {
		err = json.Unmarshal(data, &file)
	}
	switch {
	case err != nil:
		return nil, err
	case file.Todos == nil:
		return nil, errors.New(`it has no list "todos"`)
	}
	list := make([]todo, len(*file.Todos))
	for i, e := range *file.Todos {
		s, ok := statuses[strings.ToLower(strings.ReplaceAll(e.Status, "-", "_"))]
		if !ok {
			return nil, fmt.Errorf("todo %d has the unknown status %q; use pending, in_progress, completed or cancelled", i+1, e.Status)
		}
		list[i] = todo{text: e.text(), status: s}
	}
	return list, nil
}

// statuses are the words that agents use for statuses.
var statuses = map[string]status{
	"pending": pending, "todo": pending, "open": pending, "not_started": pending, "blocked": pending,
	"in_progress": inProgress, "active": inProgress, "doing": inProgress,
	"completed": settled, "complete": settled, "done": settled, "cancelled": settled, "canceled": settled,
}

// entry is one todo of a JSON file.
type entry struct {
	ID      any
	Content string
	Title   string
	Status  string
}

func (e entry) text() string {
	switch {
	case e.Content != "":
		return e.Content
	case e.Title != "":
		return e.Title
	}
	return fmt.Sprint(e.ID)
}
