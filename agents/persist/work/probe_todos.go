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
	"regexp"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/rehearse-dev/rehearse/agents/persist/check"
	"github.com/rehearse-dev/rehearse/internal/format"
)

// maxFile is how many bytes of a file are read.
const maxFile = 1 << 20

// todoProbe reads a list of todos.
type todoProbe struct{ file, dir string }

// todo is one entry of the list.
type todo struct {
	text   string
	status status
}

// status says where a todo stands.
type status int

const (
	pending status = iota
	underWay
	settled // done or cancelled
)

func (t todoProbe) probe(context.Context) check.Result {
	data, err := t.read()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return unknown("there is no file %s in the folder of the plan; give the file, or leave the probe out", t.file)
	case err != nil:
		return unknown("the todos cannot be read: %v", reason(err))
	}
	parse := parseMarkdown
	if strings.EqualFold(path.Ext(t.file), ".json") {
		parse = parseJSON
	}
	list, err := parse(data)
	if err != nil {
		return unknown("the todos of %s cannot be told: %v", t.file, err)
	}
	return judgeTodos(t.file, list)
}

// read reads the file, and not through a link that leads out of the folder.
func (t todoProbe) read() ([]byte, error) {
	root, err := os.OpenRoot(t.dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return readFile(root, t.file)
}

// readFile reads a regular file that is not too large.
func readFile(root *os.Root, name string) ([]byte, error) {
	info, err := root.Stat(name)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular(): // to open a pipe would wait for a writer
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

// reason returns an error without the name of the system's call.
func reason(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("%s: %w", e.Path, e.Err)
	}
	return err
}

func judgeTodos(file string, list []todo) check.Result {
	var open findings
	working := 0
	for _, t := range list {
		switch t.status {
		case pending:
			open.add(t.text)
		case underWay:
			working++
			open.add(t.text + " (in progress)")
		}
	}
	if open.count == 0 {
		return check.Result{Verdict: check.Pass, Details: fmt.Sprintf("%s: none of %s open", file, format.Plural(len(list), "todo"))}
	}
	details := fmt.Sprintf("%s: %d of %s open", file, open.count, format.Plural(len(list), "todo"))
	if working > 0 {
		details += fmt.Sprintf(", %d in progress", working)
	}
	return check.Result{Verdict: check.Fail, Details: details, Items: open.list()}
}

// markdown reads blocks alone: what is in a line is taken as it stands. Links are
// not resolved, so "[x]" is never one.
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

// parseMarkdown finds the items of lists that begin with a checkbox: [ ], [x], and
// [~] or [/] for one under way. Another mark is taken for open. What is in code or
// in a comment does not count.
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

// checkbox reads the first line of a list's item.
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
		t.status = underWay
	}
	return t, true
}

// maxNesting is how deep lists and quotes of Markdown may be nested: the parser
// looks at all that are open for each line.
const maxNesting = 100

// opener begins a quote or, before a space, ends the mark of a list's item.
var opener = regexp.MustCompile(`>|[-*+.)][ \t]`)

// shallow refuses a file with a line that opens more blocks than anybody writes.
func shallow(data []byte) error {
	for line := range strings.Lines(string(data)) {
		marks := line[:len(line)-len(strings.TrimLeft(line, "> \t-*+.)0123456789"))]
		if len(opener.FindAllString(marks, maxNesting+1)) > maxNesting {
			return fmt.Errorf("a line is nested more than %d deep", maxNesting)
		}
	}
	return nil
}

// parseJSON reads the lists that coding agents write: an array of objects with
// content and status, or an object that has it under "todos".
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
			return nil, fmt.Errorf("todo %d has the status %q; there are pending, in_progress, completed and cancelled", i+1, e.Status)
		}
		list[i] = todo{text: e.text(), status: s}
	}
	return list, nil
}

// statuses are the words that agents use.
var statuses = map[string]status{
	"pending": pending, "todo": pending, "open": pending, "not_started": pending, "blocked": pending,
	"in_progress": underWay, "active": underWay, "doing": underWay,
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
