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

// ExprErrors are all that is wrong with an expression.
type ExprErrors []ExprError

// ExprError is one thing that is wrong with an expression. Line and Column count
// from 1 within its text.
type ExprError struct {
	Line, Column int
	Message      string
	Nearest      string // the name that was probably meant
}

// Error joins the errors; each begins with its column.
func (es ExprErrors) Error() string {
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

// exprErrors converts what CEL found. Root is the expression as parsed; nil if it could
// not be.
func (l *Language) exprErrors(root *ast.AST, issues *cel.Issues) ExprErrors {
	var es ExprErrors
	for _, issue := range issues.Errors() {
		e := ExprError{Line: issue.Location.Line(), Column: issue.Location.Column() + 1, Message: issue.Message}
		if root != nil {
			l.explain(&e, root, issue.ExprID)
		}
		es = append(es, e)
	}
	return es
}

// explain adds to an error about the expression with the id. A name below golden that
// does not exist is an undeclared variable for CEL, and a field for the user. For other
// variables and functions CEL suggests the nearest name itself.
func (l *Language) explain(e *ExprError, root *ast.AST, id int64) {
	undeclared := strings.HasPrefix(e.Message, "undeclared reference to ")
	ast.PreOrderVisit(root.Expr(), ast.NewExprVisitor(func(expr ast.Expr) {
		switch expr.Kind() {
		case ast.IdentKind:
			if expr.ID() == id && undeclared && !strings.Contains(e.Message, "did you mean") {
				e.Message += "; the facts are " + strings.Join(l.namesBelow(""), ", ")
			}
		case ast.SelectKind:
			selected := expr.AsSelect()
			operand, isPath := pathOf(selected.Operand())
			if golden := operand == goldenName && undeclared; golden && selected.Operand().ID() == id || golden && expr.ID() == id {
				id = expr.ID() // not the operand again
				at := root.SourceInfo().GetStartLocation(id)
				*e = ExprError{Line: at.Line(), Column: at.Column() + 1, Message: fmt.Sprintf("undefined field '%s'", selected.FieldName())}
			}
			if expr.ID() == id {
				names := fieldNames(reflect.TypeFor[event.Event]()) // of a variable of a comprehension, mostly over events
				if isPath {
					names = l.namesBelow(operand)
				}
				e.Nearest = suggest.Nearest(selected.FieldName(), names)
			}
		}
	}))
}

// namesBelow returns the names that can follow a path; those of an event for a path that
// begins with the variable of a comprehension.
func (l *Language) namesBelow(path string) (names []string) {
	if v, rest := l.variable(path); v != nil {
		t := v.typ
		for _, name := range rest {
			if t.Kind() != reflect.Struct || !slices.Contains(fieldNames(t), name) {
				return nil
			}
			t = t.Field(slices.Index(fieldNames(t), name)).Type
		}
		if t.Kind() != reflect.Struct {
			return nil
		}
		return fieldNames(t)
	}
	if path != "" && path != goldenName {
		return fieldNames(reflect.TypeFor[event.Event]())
	}
	for _, v := range l.variables {
		name, below := strings.CutPrefix(v.name, goldenPrefix)
		if below == (path == goldenName) {
			names = append(names, name)
		}
	}
	return names
}

// readsGolden returns an error at the place where an expression first reads the facts of
// the golden run; nil if it does not. A variable of its own by that name counts, too:
// nobody needs one.
func readsGolden(parsed *ast.AST) (found *ExprError) {
	ast.PreOrderVisit(parsed.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if found != nil || e.Kind() != ast.IdentKind || e.AsIdent() != goldenName {
			return
		}
		at := parsed.SourceInfo().GetStartLocation(e.ID())
		found = &ExprError{Line: at.Line(), Column: at.Column() + 1, Message: "golden is known to invariants only: " +
			"it is the run without the perturbations, and without any there is none; write the expression under invariants"}
	}))
	return found
}

// The facts of the golden run are variables whose names begin with goldenPrefix.
const (
	goldenName   = "golden"
	goldenPrefix = goldenName + "."
)
