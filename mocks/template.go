package mocks

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"text/template/parse"

	"github.com/rehearse-dev/rehearse/internal/boundedtemplate"
	"github.com/rehearse-dev/rehearse/llm"
)

// maxTemplate limits the output of a template, in bytes.
const maxTemplate = 1 << 20

// templateData has the fields of a template, which do not depend on time or chance.
type templateData struct {
	Model, System, User string
	Turn                int
	Purpose             string
	Tags                map[string]string
	Messages            []llm.Message
	Attempt             int
}

// templateFuncs has functions in addition to those of text/template and boundedtemplate.
var templateFuncs = boundedtemplate.Funcs{
	// json encodes a value for use within JSON text.
	"json": func(v any) (string, error) {
		data, err := json.Marshal(v)
		return string(data), err
	},
}

// parseTemplate parses a template, and rejects unknown fields in all of its branches.
func parseTemplate(text string) (*boundedtemplate.Template, error) {
	t, err := boundedtemplate.Parse("template", text, templateFuncs, "missingkey=error")
	if err != nil {
		return nil, err
	}
	own, defined := t.Roots()
	if err := checkFields(own, true); err != nil {
		return nil, err
	}
	for _, root := range defined {
		if err := checkFields(root, false); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// unknownFieldError is the error for an unknown field in a template.
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

// checkFields returns an error for an unknown field of the request. dotIsRequest is false inside
// range and with, and in defined templates, where the dot has another value: there only execution
// finds unknown fields.
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
