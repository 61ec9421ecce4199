package gate

import (
	"reflect"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/interpreter"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/rehearse-dev/rehearse/internal/format"
)

// sides returns the expected and the actual value of an expression that is false because of a comparison
// of texts, lists or maps with "==". Lists and maps are JSON. A constant is the expected value, otherwise
// the right side is. Both are empty for other expressions.
func (e *expression) sides(vars activation) (expected, actual string) {
	root := e.checked.NativeRep().Expr()
	if !compares(root) {
		return "", ""
	}
	env, err := e.language.environment()
	if err != nil {
		return "", ""
	}
	program, err := env.Program(e.checked, cel.CostLimit(maxExprCost), cel.EvalOptions(cel.OptTrackState))
	if err != nil {
		return "", ""
	}
	_, details, _ := program.Eval(vars) // the caller has the error
	if details == nil {
		return "", ""
	}
	state := details.State()
	call := failedEquality(root, state)
	if call == nil {
		return "", ""
	}
	args := call.AsCall().Args()
	left, right := args[0], args[1]
	if left.Kind() == ast.LiteralKind {
		left, right = right, left
	}
	saw, ok := valueText(left, state)
	wanted, alsoOK := valueText(right, state)
	if !ok || !alsoOK {
		return "", ""
	}
	return wanted, saw
}

// compares reports whether an expression is a comparison, or a conjunction with one.
func compares(e ast.Expr) bool {
	if e.Kind() != ast.CallKind {
		return false
	}
	call := e.AsCall()
	switch call.FunctionName() {
	case operators.Equals:
		return true
	case operators.LogicalAnd:
		return compares(call.Args()[0]) || compares(call.Args()[1])
	}
	return false
}

// failedEquality returns the comparison that makes an expression false, or nil.
func failedEquality(e ast.Expr, state interpreter.EvalState) ast.Expr {
	if e.Kind() != ast.CallKind {
		return nil
	}
	if v, ok := state.Value(e.ID()); !ok || v != types.False {
		return nil
	}
	switch call := e.AsCall(); call.FunctionName() {
	case operators.Equals:
		return e
	case operators.LogicalAnd:
		for _, arg := range call.Args() {
			if v, ok := state.Value(arg.ID()); ok && v == types.False {
				return failedEquality(arg, state)
			}
		}
	}
	return nil
}

// valueText returns the value of a text, a list or a map. Differences of other values are obvious.
func valueText(e ast.Expr, state interpreter.EvalState) (string, bool) {
	v, ok := state.Value(e.ID())
	if !ok && e.Kind() == ast.LiteralKind {
		v, ok = e.AsLiteral(), true
	}
	if !ok {
		return "", false
	}
	if text, ok := v.(types.String); ok {
		return string(text), true
	}
	if v.Type() != types.ListType && v.Type() != types.MapType {
		return "", false
	}
	var value any
	if native, err := v.ConvertToNative(reflect.TypeFor[*structpb.Value]()); err == nil {
		value = native.(*structpb.Value).AsInterface()
	} else {
		value = v.Value() // a list of facts
	}
	text, err := format.Marshal(value)
	return string(text), err == nil
}
