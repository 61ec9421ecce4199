// Package boundedtemplate runs untrusted templates (text/template): each execution has
// limits on its work and its output, and ends with its context.
//
// text/template cannot be interrupted, so Parse adds a check at the start of each loop
// body and of each template. Loops over integers and functions are refused: they run
// without data, and an empty one could take minutes.
package boundedtemplate

import (
	"context"
	"errors"
	"fmt"
	"html"
	"net/url"
	"reflect"
	"regexp"
	"regexp/syntax"
	"strings"
	"text/template"
	"text/template/parse"

	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
)

// maxWork is the limit of the work of one execution, about a second. A unit is a byte that
// a function returns or of a loop's body, or one step of a regular expression.
const maxWork = 1 << 25

var (
	// ErrWork means that a template needs more work than is allowed.
	ErrWork = errors.New("the template needs too much work: its loops or its functions go on for too long")
	// ErrRange means that a template loops over a number or a function.
	ErrRange = errors.New("the template ranges over a number or a function; range over a list or a map")
)

// The functions that Parse adds to templates.
const (
	stepName = "boundedtemplate_step"
	listName = "boundedtemplate_list"
)

// Template is a parsed template. It is safe for concurrent use.
type Template struct {
	t     *template.Template
	funcs Funcs
}

// Funcs are functions of one value that a template may call by name.
type Funcs map[string]func(v any) (string, error)

// Parse parses a template. In addition to the functions of text/template it may call
// match, split and join, and funcs; options are those of (*template.Template).Option.
func Parse(name, text string, funcs Funcs, options ...string) (*Template, error) {
	t, err := template.New(name).Option(options...).Funcs(new(run).functions(funcs)).Parse(text)
	if err != nil {
		return nil, err
	}
	for _, part := range t.Templates() {
		if err := guard(part.Root); err != nil {
			return nil, err
		}
		if err := addStep(part.Root); err != nil {
			return nil, err
		}
	}
	return &Template{t, funcs}, nil
}

// Roots returns the parsed text of the template itself and of the templates that it
// defines.
func (t *Template) Roots() (own *parse.ListNode, defined []*parse.ListNode) {
	for _, part := range t.t.Templates() {
		if part == t.t {
			own = part.Root
		} else {
			defined = append(defined, part.Root)
		}
	}
	return own, defined
}

// Execute returns the output of the template for data, at most limit bytes. The error
// wraps ErrWork, ErrRange or the context's own error if one of these ended it.
func (t *Template) Execute(ctx context.Context, data any, limit int) (string, error) {
	r := &run{ctx: ctx, left: maxWork}
	bound, err := t.t.Clone()
	if err != nil {
		return "", err
	}
	out := output{limit: limit}
	if err := bound.Funcs(r.functions(t.funcs)).Execute(&out, data); err != nil {
		return "", clean(err)
	}
	return out.String(), nil
}

// clean removes the names of the functions that Parse added.
func clean(err error) error {
	for _, known := range []error{ErrWork, ErrRange, context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, known) {
			return known
		}
	}
	return err
}

// output refuses to grow beyond its limit.
type output struct {
	strings.Builder
	limit int
}

func (o *output) Write(p []byte) (int, error) {
	if o.Len()+len(p) > o.limit {
		return 0, fmt.Errorf("it writes more than %d bytes", o.limit)
	}
	return o.Builder.Write(p)
}

// guard adds checks to the loops below a node.
func guard(node parse.Node) error {
	switch n := node.(type) {
	case *parse.ListNode:
		if n == nil {
			return nil
		}
		for _, child := range n.Nodes {
			if err := guard(child); err != nil {
				return err
			}
		}
	case *parse.IfNode:
		return errors.Join(guard(n.List), guard(n.ElseList))
	case *parse.WithNode:
		return errors.Join(guard(n.List), guard(n.ElseList))
	case *parse.RangeNode:
		if err := errors.Join(guard(n.List), guard(n.ElseList)); err != nil {
			return err
		}
		return guardLoop(n)
	}
	return nil
}

// guardLoop adds a check of the value of a loop, and of each iteration. It refuses a
// number at once.
func guardLoop(n *parse.RangeNode) error {
	if cmds := n.Pipe.Cmds; len(cmds) > 0 {
		if _, number := cmds[len(cmds)-1].Args[0].(*parse.NumberNode); number {
			return fmt.Errorf("line %d: %w", n.Line, ErrRange)
		}
	}
	list, err := action("{{0 | " + listName + "}}")
	if err != nil {
		return err
	}
	n.Pipe.Cmds = append(n.Pipe.Cmds, list.Pipe.Cmds[1])
	return addStep(n.List)
}

// addStep adds a check at the start of a list, with the length of the list as its cost.
func addStep(list *parse.ListNode) error {
	if list == nil {
		return nil
	}
	step, err := action(fmt.Sprintf("{{%s %d}}", stepName, 100+len(list.String())))
	if err != nil {
		return err
	}
	list.Nodes = append([]parse.Node{step}, list.Nodes...)
	return nil
}

func action(text string) (*parse.ActionNode, error) {
	trees, err := parse.Parse("check", text, "", "", map[string]any{stepName: 0, listName: 0})
	if err != nil {
		return nil, err
	}
	return trees["check"].Root.Nodes[0].(*parse.ActionNode), nil
}

// run is one execution.
type run struct {
	ctx  context.Context
	left int
}

// spend subtracts units from the remaining work.
func (r *run) spend(units int) error {
	if r.left -= units; r.left < 0 || units < 0 {
		return ErrWork
	}
	return r.ctx.Err()
}

// spent returns a text whose length counts as work.
func (r *run) spent(text string) (string, error) { return text, r.spend(len(text)) }

// functions returns the functions of text/template that return text, those of Parse and
// own, each with its cost.
func (r *run) functions(own Funcs) template.FuncMap {
	all := template.FuncMap{
		stepName: func(units int) (string, error) { return "", r.spend(units) },
		listName: list,
		"print":  func(args ...any) (string, error) { return r.spent(fmt.Sprint(args...)) },
		"println": func(args ...any) (string, error) {
			return r.spent(fmt.Sprintln(args...))
		},
		"printf":   r.printf,
		"html":     func(args ...any) (string, error) { return r.spent(html.EscapeString(fmt.Sprint(args...))) },
		"js":       func(args ...any) (string, error) { return r.spent(template.JSEscaper(args...)) },
		"urlquery": func(args ...any) (string, error) { return r.spent(url.QueryEscape(fmt.Sprint(args...))) },
		"match":    r.match,
		"split":    r.split,
		"join":     r.join,
	}
	for name, f := range own {
		all[name] = func(v any) (string, error) {
			text, err := f(v)
			if err != nil {
				return "", err
			}
			return r.spent(text)
		}
	}
	return all
}

// wide matches widths and precisions that can produce more than 999 bytes without data.
var wide = lazyregexp.New(`%[^a-zA-Z%]*(\d{4}|\*)`)

func (r *run) printf(format string, args ...any) (string, error) {
	if wide().MatchString(format) {
		return "", errors.New("printf with a width of more than 999")
	}
	return r.spent(fmt.Sprintf(format, args...))
}

// match returns the first group of the first match of a regular expression (RE2) in a
// text, or "".
func (r *run) match(pattern, text string) (string, error) {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return "", err
	}
	program, err := syntax.Compile(re.Simplify())
	if err != nil {
		return "", err
	}
	// Its steps are at most the program's length for each byte (Cox, Regular Expression
	// Matching Can Be Simple And Fast, 2007); they are short, so that 16 count as one.
	if err := r.spend(len(program.Inst) * (16 + len(text)) / 16); err != nil {
		return "", err
	}
	compiled, err := regexp.Compile(pattern)
	if err != nil {
		return "", err
	}
	found := compiled.FindStringSubmatch(text)
	if len(found) < 2 {
		return "", nil
	}
	return found[1], nil
}

func (r *run) split(separator, text string) ([]string, error) {
	parts := strings.Count(text, separator) + 1
	if err := r.spend(len(text) + 16*parts); err != nil {
		return nil, err
	}
	return strings.Split(text, separator), nil
}

func (r *run) join(separator string, texts []string) (string, error) {
	size := len(separator) * len(texts)
	for _, t := range texts {
		size += len(t)
	}
	if err := r.spend(size); err != nil {
		return "", err
	}
	return strings.Join(texts, separator), nil
}

// list refuses the values that a loop could run over without data.
func list(v reflect.Value) (reflect.Value, error) {
	for v.Kind() == reflect.Interface || v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	switch v.Kind() {
	case reflect.Invalid, reflect.Slice, reflect.Array, reflect.Map, reflect.String, reflect.Struct, reflect.Bool:
		return v, nil // text/template has its own error for the last of these
	default:
		return v, ErrRange
	}
}
