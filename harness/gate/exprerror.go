package gate

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"

	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/internal/suggest"
)

// exprErrors are all errors in an expression.
type exprErrors []exprError

// exprError is one error in an expression. Line and Column count from 1 within its text.
type exprError struct {
	Line, Column int
	Message      string
	Nearest      string // the name that was probably meant
}

// Error joins the errors, each with its position.
func (es exprErrors) Error() string {
	parts := make([]string, len(es))
	for i, e := range es {
		parts[i] = fmt.Sprintf("column %d: %s", e.Column, e.Message)
		if e.Line > 1 {
			parts[i] = fmt.Sprintf("line %d, %s", e.Line, parts[i])
		}
		if e.Nearest != "" {
			parts[i] += fmt.Sprintf(" (did you mean %q?)", e.Nearest)
		}
	}
	return strings.Join(parts, "; ")
}

// convert returns the issues that CEL found as errors. root is the parsed expression; nil if
// parsing failed.
func (l *Language) convert(root *ast.AST, issues *cel.Issues) exprErrors {
	var es exprErrors
	for _, issue := range issues.Errors() {
		e := exprError{Line: issue.Location.Line(), Column: issue.Location.Column() + 1, Message: issue.Message}
		if root != nil {
			l.explain(&e, root, issue.ExprID)
		}
		es = append(es, e)
	}
	return es
}

// explain completes an error about the expression with the id. For CEL an unknown name below golden
// is an undeclared variable, for the user a field. CEL itself suggests the nearest name for other
// variables and for functions.
func (l *Language) explain(e *exprError, root *ast.AST, id int64) {
	undeclared := strings.HasPrefix(e.Message, "undeclared reference to ")
	ast.PreOrderVisit(root.Expr(), ast.NewExprVisitor(func(node ast.Expr) {
		if node.Kind() == ast.IdentKind && node.ID() == id && undeclared && !strings.Contains(e.Message, "did you mean") {
			e.Message += "; the facts are " + strings.Join(l.names(""), ", ")
		}
		if node.Kind() != ast.SelectKind {
			return
		}
		field, operand := node.AsSelect().FieldName(), node.AsSelect().Operand()
		path, _ := pathOf(operand)
		switch {
		case undeclared && path == goldenName && (id == node.ID() || id == operand.ID()):
			at := root.SourceInfo().GetStartLocation(node.ID())
			*e = exprError{
				Line: at.Line(), Column: at.Column() + 1, Message: fmt.Sprintf("undefined field '%s'", field),
				Nearest: suggest.Nearest(field, l.names(goldenPrefix)),
			}
			id = -1 // it is complete
		case id == node.ID():
			e.Nearest = suggest.Nearest(field, l.fields(path))
		}
	}))
}

// names returns the names of the variables that begin with a prefix, without the prefix. Golden
// variables are only returned for their own prefix.
func (l *Language) names(prefix string) (names []string) {
	for _, v := range l.variables {
		name, ok := strings.CutPrefix(v.name, prefix)
		if ok && !strings.HasPrefix(name, goldenPrefix) {
			names = append(names, name)
		}
	}
	return names
}

// fields returns the names of the fields at a path. A path that does not begin with a variable is
// that of a comprehension, mostly over events.
func (l *Language) fields(path string) []string {
	v, rest := l.variable(path)
	if v == nil {
		return fieldNames(reflect.TypeFor[event.Event]())
	}
	t := v.typ
	for _, name := range rest {
		i := slices.Index(fieldNames(t), name)
		if i < 0 {
			return nil
		}
		t = t.Field(i).Type
	}
	return fieldNames(t)
}

// readsGolden returns an error at the first place where an expression reads facts of the golden
// run, or nil. Any use of the name golden counts.
func readsGolden(parsed *ast.AST) (found *exprError) {
	ast.PreOrderVisit(parsed.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if found != nil || e.Kind() != ast.IdentKind || e.AsIdent() != goldenName {
			return
		}
		at := parsed.SourceInfo().GetStartLocation(e.ID())
		found = &exprError{Line: at.Line(), Column: at.Column() + 1, Message: "golden is known to invariants only: " +
			"it is the run without perturbations, which other expressions do not have; write the expression under invariants"}
	}))
	return found
}

// The facts of the golden run are variables whose names begin with goldenPrefix.
const (
	goldenName   = "golden"
	goldenPrefix = goldenName + "."
)
