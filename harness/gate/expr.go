package gate

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/interpreter"

	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

// The limits of an expression. Cost is in CEL's own units, about one for each
// operation; a run-away expression is stopped within milliseconds.
const (
	maxExprLength = 4096 // characters
	maxExprDepth  = 64
	maxExprCost   = 1_000_000
	maxValue      = 300 // characters of a value in evidence
)

// expression is a compiled expression over measure.Facts. It may be evaluated by several
// goroutines at once.
type expression struct {
	text     string // without the comment with which an invariant begins
	checked  *cel.Ast
	language *Language
	program  cel.Program
	kind     *cel.Type
	// reads are the facts that the expression mentions, such as "run.status".
	reads []string
	// golden is the error of an expression that reads the golden run outside invariants;
	// nil if it does not.
	golden *exprError
}

// condition compiles an expression (CEL) that must yield true or false. Variables are the
// fields of measure.Facts under the names of their cel tags, and the extensions. Functions are
// the standard ones of CEL and its strings extension. Errors have positions.
func (l *Language) condition(text string) (*expression, error) {
	l = l.orCore()
	if known, ok := l.compiled.Load(text); ok {
		return known.(*expression), nil
	}
	e, err := l.compile(text, "true or false", cel.BoolType)
	if err == nil {
		l.compiled.Store(text, e)
	}
	return e, err
}

// compile compiles an expression that must yield one of some types, which wanted
// describes.
func (l *Language) compile(text, wanted string, types ...*cel.Type) (*expression, error) {
	env, err := l.environment()
	if err != nil {
		return nil, fmt.Errorf("prepare expressions: %w", err)
	}
	parsed, issues := env.Parse(text)
	if issues.Err() != nil {
		return nil, l.convert(nil, issues)
	}
	golden := readsGolden(parsed.NativeRep())
	checked, issues := env.Check(parsed)
	if issues.Err() != nil {
		parsed, _ = env.Parse(text) // again, as Check changes it
		return nil, l.convert(parsed.NativeRep(), issues)
	}
	kind := checked.OutputType()
	if !slices.ContainsFunc(types, kind.IsExactType) {
		return nil, exprErrors{{Line: 1, Column: 1, Message: fmt.Sprintf("yields %s; expected %s", kind, wanted)}}
	}
	program, err := env.Program(checked, cel.CostLimit(maxExprCost))
	if err != nil {
		return nil, exprErrors{{Line: 1, Column: 1, Message: err.Error()}}
	}
	_, bare := splitWords(text)
	return &expression{
		text: bare, checked: checked, language: l, program: program, kind: kind, reads: l.mentioned(checked.NativeRep().Expr()), golden: golden,
	}, nil
}

// Check returns an error unless text is valid under expect.that: it must compile, and must not read
// "golden", which only perturbed runs have.
func (l *Language) Check(text string) error {
	e, err := l.condition(text)
	if err == nil && e.golden != nil {
		return exprErrors{*e.golden}
	}
	return err
}

// CheckInvariant returns an error unless text is valid under invariants: it must compile, and must
// read a fact of the run, without which all runs would be judged the same.
func (l *Language) CheckInvariant(text string) error {
	e, err := l.condition(text)
	if err != nil {
		return err
	}
	for _, fact := range e.reads {
		if !strings.HasPrefix(fact, goldenPrefix) {
			return nil
		}
	}
	message := "reads no fact of the run, so its value is the same for every run; compare a fact such as calls.total or run.status"
	return exprErrors{{Line: 1, Column: 1, Message: message}}
}

// judge evaluates the expression; ok means that it is true and that every fact it mentions is
// known. A mentioned fact counts as needed, even if the other side of an "or" would suffice.
//
// An expression that cannot be evaluated counts as false: it may read the third answer of an agent
// that gave two. Only an expression that exceeded its cost has no result.
func (e *expression) judge(facts *measure.Facts) (finding Finding, ok bool) {
	vars := activation{e.language, facts}
	if f, unknown := e.unknown(facts); unknown {
		return f, false
	}
	result, _, err := e.program.Eval(vars)
	if result == types.True {
		return Finding{}, true
	}
	finding = Finding{Severity: Failing, Message: "does not hold: " + e.text, Evidence: e.evidence(vars)}
	finding.Expected, finding.Actual = e.sides(vars)
	if err != nil {
		finding.Message += " (" + err.Error() + ")"
	}
	if _, stopped := errors.AsType[interpreter.EvalCancelledError](err); stopped {
		finding.Severity = Broken
	}
	return finding, false
}

// noUserModel is why the tokens and the cost of a user's model are unknown without another reason.
const noUserModel = "a call of the simulated user's model was answered without usage, or it has no model"

// unknown returns a finding if the expression reads an unknown fact without checking whether it is
// known.
func (e *expression) unknown(f *measure.Facts) (Finding, bool) {
	for _, u := range []struct {
		known    bool
		severity Severity
		facts    string // prefix of what is unknown
		flag     string // the fact that reports whether it is known
		why      string
	}{
		{f.Cost.Known, Failing, "cost", "cost.known", f.Cost.Why},
		{f.Tokens.Known, Failing, "tokens", "tokens.known", "a call was answered without usage"},
		{earlyKnown(f), Failing, "calls.early_retries", "script.requests", noScript},
		{f.Latency.N > 0, Broken, "latency", "latency.n", "no call's latency is known"},
		{f.User.ContradictionsKnown, Failing, "user.contradictions", "user.contradictions_known", "no fact of a simulated user has contradicts"},
		{f.User.RefusalsKnown, Failing, "user.refusals", "user.refusals_known", "no simulated user has refuses"},
		{f.User.Model.Cost.Known, Failing, "user_model.cost", "user_model.cost.known", cmp.Or(f.User.Model.Cost.Why, noUserModel)},
		{f.User.Model.Tokens.Known, Failing, "user_model.tokens", "user_model.tokens.known", noUserModel},
		{f.Run.DurationKnown, Broken, "run.duration", "run.duration_known", "no duration was recorded"},
		{f.Golden.Status != "", Broken, "golden", "golden.status", "no golden run was recorded with this one"},
		{f.Golden.Cost.Known || f.Golden.Status == "", Failing, "golden.cost", "golden.cost.known", f.Golden.Cost.Why},
		{
			f.Golden.Tokens.Known || f.Golden.Status == "", Failing, "golden.tokens", "golden.tokens.known",
			"a call of the golden run was answered without usage",
		},
	} {
		if u.known || slices.Contains(e.reads, u.flag) {
			continue
		}
		for _, fact := range e.reads {
			if strings.HasPrefix(fact+".", u.facts+".") {
				return Finding{Severity: u.severity, Message: fmt.Sprintf("%s is unknown: %s", fact, e.text), Evidence: u.why}, true
			}
		}
	}
	return Finding{}, false
}

// evidence lists the values that the expression reads. A missing key of a map is shown as the map.
func (e *expression) evidence(vars activation) string {
	lines := make([]string, len(e.reads))
	for i, fact := range e.reads {
		path, v := vars.follow(fact)
		text, err := format.Marshal(v.Interface())
		if err != nil { // a fact that JSON cannot hold, such as infinity
			text = fmt.Append(nil, v.Interface())
		}
		lines[i] = path + " = " + sanitize.Cut(string(text), maxValue)
	}
	return strings.Join(lines, "; ")
}

// mentioned lists the facts that an expression reads, each as its longest path
// of names and numbers, such as turns.0.text for turns[0].text, in the order of first mention.
func (l *Language) mentioned(e ast.Expr) []string {
	var paths []string
	ast.PreOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) {
		path, ok := pathOf(e)
		if !ok {
			return
		}
		if v, _ := l.variable(path); v == nil {
			return
		}
		// A path comes before its own beginnings, which are visited after it.
		if !slices.ContainsFunc(paths, func(p string) bool { return p == path || strings.HasPrefix(p, path+".") }) {
			paths = append(paths, path)
		}
	}))
	return paths
}

// pathOf returns the dotted path of an expression that consists of names and constant indexes of lists.
func pathOf(e ast.Expr) (string, bool) {
	switch e.Kind() {
	case ast.IdentKind:
		return e.AsIdent(), true
	case ast.SelectKind:
		if path, ok := pathOf(e.AsSelect().Operand()); ok && !e.AsSelect().IsTestOnly() {
			return path + "." + e.AsSelect().FieldName(), true
		}
	case ast.CallKind:
		if call := e.AsCall(); call.FunctionName() == operators.Index && call.Args()[1].Kind() == ast.LiteralKind {
			n, isNumber := call.Args()[1].AsLiteral().(types.Int)
			path, ok := pathOf(call.Args()[0])
			return fmt.Sprintf("%s.%d", path, n), ok && isNumber
		}
	default:
	}
	return "", false
}
