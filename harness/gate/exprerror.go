package gate

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"

	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/measure"
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

// problems turns what CEL found into ExprErrors.
func problems(env *cel.Env, text string, issues *cel.Issues) error {
	if issues.Err() == nil {
		return nil
	}
	parsed, syntax := env.Parse(text)
	var es ExprErrors
	for _, issue := range issues.Errors() {
		e := ExprError{Line: issue.Location.Line(), Column: issue.Location.Column() + 1, Message: issue.Message}
		if syntax.Err() == nil {
			e.Nearest = nearest(parsed.NativeRep().Expr(), issue.ExprID)
		}
		es = append(es, e)
	}
	return es
}

// nearest suggests a field for the expression with the id, if that selects one.
// For variables and functions CEL does so itself.
func nearest(root ast.Expr, id int64) (word string) {
	ast.PreOrderVisit(root, ast.NewExprVisitor(func(e ast.Expr) {
		if e.ID() == id && e.Kind() == ast.SelectKind {
			word = suggest.Nearest(e.AsSelect().FieldName(), namesUnder(e.AsSelect().Operand()))
		}
	}))
	return word
}

// namesUnder are the fields that an operand can have: those of its type where it
// is a variable, else those of an event, the only list of structs there is.
func namesUnder(operand ast.Expr) []string {
	if operand.Kind() == ast.IdentKind {
		if i := slices.Index(variableNames(), operand.AsIdent()); i >= 0 {
			if t := reflect.TypeFor[measure.Facts]().Field(i).Type; t.Kind() == reflect.Struct {
				return fieldNames(t)
			}
		}
	}
	return fieldNames(reflect.TypeFor[event.Event]())
}

// readsGolden says where an expression first reads the facts of the golden run. A
// variable of its own by that name counts, too: nobody needs one.
func readsGolden(checked *ast.AST) (found *ExprError) {
	ast.PreOrderVisit(checked.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if found != nil || e.Kind() != ast.IdentKind || e.AsIdent() != goldenName {
			return
		}
		at := checked.SourceInfo().GetStartLocation(e.ID())
		found = &ExprError{Line: at.Line(), Column: at.Column() + 1, Message: "golden is known to invariants only: " +
			"it is the run without the perturbations, and without any there is none; write the expression under invariants"}
	}))
	return found
}

const goldenName = "golden"
