package gate

import (
	"fmt"
	"math"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"

	"github.com/rehearse-dev/rehearse/harness/measure"
)

// Number is a compiled expression over measure.Facts that yields a number. It is safe for
// concurrent use.
type Number struct{ expr *expression }

// CompileNumber compiles an expression (CEL) that yields a number or a boolean, which counts as 1
// or 0. Variables and functions are those of conditions. Errors have positions.
func (l *Language) CompileNumber(text string) (*Number, error) {
	l = l.orCore()
	if known, ok := l.numbers.Load(text); ok {
		return known.(*Number), nil
	}
	e, err := l.compile(text, "a number, or true or false", cel.BoolType, cel.IntType, cel.UintType, cel.DoubleType, cel.DynType)
	switch {
	case err != nil:
		return nil, err
	case e.golden != nil:
		return nil, exprErrors{*e.golden}
	case len(e.reads) == 0:
		return nil, exprErrors{{
			Line: 1, Column: 1,
			Message: "reads no fact, so its value is the same for every trial; read one such as calls.total or run.duration",
		}}
	}
	n := &Number{expr: e}
	l.numbers.Store(text, n)
	return n, nil
}

// Share reports whether the expression yields true or false.
func (n *Number) Share() bool { return n.expr.kind.IsExactType(cel.BoolType) }

// Of returns the value for a trial. why explains a missing value: a fact is unknown, the expression
// cannot be evaluated, or the result is not a finite number.
func (n *Number) Of(f *measure.Facts) (value float64, why string) {
	if found, unknown := n.expr.unknown(f); unknown {
		return 0, found.Message + " (" + found.Evidence + ")"
	}
	result, _, err := n.expr.program.Eval(activation{n.expr.language, f})
	if err != nil {
		return 0, fmt.Sprintf("%s cannot be evaluated: %v", n.expr.text, err)
	}
	switch v := result.(type) {
	case types.Bool:
		if v {
			value = 1
		}
	case types.Int:
		value = float64(v)
	case types.Uint:
		value = float64(v)
	case types.Double:
		value = float64(v)
	default:
		return 0, fmt.Sprintf("%s is %s, not a number", n.expr.text, result.Type().TypeName())
	}
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return 0, n.expr.text + " is not a finite number"
	}
	return value, ""
}
