package mocks

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"text/template"
	"text/template/parse"

	"github.com/rehearse-dev/rehearse/llm"
)

// maxTemplate is the size in bytes up to which a template may write.
const maxTemplate = 1 << 20

// templateData is what a template sees. Nothing in it depends on time or chance.
type templateData struct {
	Model, System, User string
	Turn                int
	Purpose             string
	Tags                map[string]string
	Messages            []llm.Message
	Attempt             int
}

// templateFuncs are added to those of text/template.
var templateFuncs = template.FuncMap{
	// json quotes a value for a place inside JSON text.
	"json": func(v any) (string, error) {
		data, err := json.Marshal(v)
		return string(data), err
	},
	// match is what the first group of a regular expression (RE2) fits first in a
	// text; empty if it fits nothing.
	"match": func(pattern, text string) (string, error) {
		re, err := regexp.Compile(pattern)
		if err != nil {
			return "", err
		}
		found := re.FindStringSubmatch(text)
		if len(found) < 2 {
			return "", nil
		}
		return found[1], nil
	},
	// split parts a text at a separator, and join puts texts together.
	"split": func(separator, text string) []string { return strings.Split(text, separator) },
	"join":  func(separator string, texts []string) string { return strings.Join(texts, separator) },
}

// parseTemplate also finds fields of the request that do not exist, in every
// branch, so that a misspelt one is found before the first call.
func parseTemplate(text string) (*template.Template, error) {
	t, err := template.New("template").Option("missingkey=error").Funcs(templateFuncs).Parse(text)
	if err != nil {
		return nil, err
	}
	for _, part := range t.Templates() {
		if err := checkFields(part.Root, part == t); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// unknownFieldError names a field of a template that requests do not have.
type unknownFieldError struct{ field string }

func (e unknownFieldError) Error() string {
	return fmt.Sprintf("a template has no .%s; it has .%s", e.field, strings.Join(templateFields(), ", ."))
}

func templateFields() []string {
	var names []string
	for f := range reflect.TypeFor[templateData]().Fields() {
		names = append(names, f.Name)
	}
	return names
}

// checkFields looks for fields of the request that do not exist. dotIsRequest
// is false inside range and with, and in a defined template, where the dot is
// something else; what is used there shows when it is executed.
func checkFields(node parse.Node, dotIsRequest bool) error {
	known := func(name string) error {
		if _, ok := reflect.TypeFor[templateData]().FieldByName(name); !ok {
			return unknownFieldError{name}
		}
		return nil
	}
	switch n := node.(type) {
	case *parse.FieldNode:
		if dotIsRequest {
			return known(n.Ident[0])
		}
	case *parse.ListNode:
		if n == nil {
			return nil
		}
		return checkAll(n.Nodes, dotIsRequest)
	case *parse.ActionNode:
		return checkFields(n.Pipe, dotIsRequest)
	case *parse.PipeNode:
		for _, c := range n.Cmds {
			if err := checkAll(c.Args, dotIsRequest); err != nil {
				return err
			}
		}
	case *parse.IfNode:
		return checkBranch(&n.BranchNode, dotIsRequest, dotIsRequest)
	case *parse.RangeNode:
		return checkBranch(&n.BranchNode, dotIsRequest, false)
	case *parse.WithNode:
		return checkBranch(&n.BranchNode, dotIsRequest, false)
	}
	return nil
}

func checkAll(nodes []parse.Node, dotIsRequest bool) error {
	for _, n := range nodes {
		if err := checkFields(n, dotIsRequest); err != nil {
			return err
		}
	}
	return nil
}

func checkBranch(b *parse.BranchNode, outside, inside bool) error {
	return errors.Join(checkFields(b.Pipe, outside), checkFields(b.List, inside), checkFields(b.ElseList, outside))
}

// execute renders t over a request.
func execute(t *template.Template, data templateData) (string, error) {
	var out limitedText
	if err := t.Execute(&out, data); err != nil {
		return "", err
	}
	return out.String(), nil
}

// limitedText refuses to grow over maxTemplate, which also ends endless loops.
type limitedText struct{ strings.Builder }

func (l *limitedText) Write(p []byte) (int, error) {
	if l.Len()+len(p) > maxTemplate {
		return 0, fmt.Errorf("a template may not write more than %d bytes", maxTemplate)
	}
	return l.Builder.Write(p)
}
