package gate

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/ext"
	"cel.dev/cel-go/interpreter"

	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/measure"
)

// The limits of an expression. Cost is in CEL's own units, about one for each
// operation; a run-away expression is stopped within milliseconds.
const (
	maxExprLength = 4096 // characters
	maxExprDepth  = 64
	maxExprCost   = 1_000_000
	maxShown      = 300 // characters of a value in evidence
)

// Expr is a compiled expression over measure.Facts. It may be evaluated by
// several goroutines at once.
type Expr struct {
	text    string // without the words that it begins with
	program cel.Program
	kind    *cel.Type
	// reads are the facts that the expression mentions, such as "run.status".
	reads []string
	// golden is where it reads what only invariants know; nil if nowhere.
	golden *ExprError
}

// compiled remembers expressions by their text; each is compiled when a file is
// checked, when it is run, and once for each scenario that repeats it.
var compiled sync.Map // string → *Expr

// Compile compiles an expression (CEL) that must yield true or false. Variables
// are the fields of measure.Facts under the names of their cel tags; functions
// are those of CEL and of its strings extension. Errors are ExprErrors.
func Compile(text string) (*Expr, error) {
	if known, ok := compiled.Load(text); ok {
		return known.(*Expr), nil
	}
	e, err := compile(text, "true or false", cel.BoolType)
	if err == nil {
		compiled.Store(text, e)
	}
	return e, err
}

// compile compiles an expression that must yield one of these types, which wanted says
// in words.
func compile(text, wanted string, kinds ...*cel.Type) (*Expr, error) {
	env, err := environment()
	if err != nil {
		return nil, fmt.Errorf("prepare expressions: %w", err)
	}
	checked, issues := env.Compile(text)
	if err := problems(env, text, issues); err != nil {
		return nil, err
	}
	kind := checked.OutputType()
	if !slices.ContainsFunc(kinds, kind.IsExactType) {
		return nil, ExprErrors{{Line: 1, Column: 1, Message: fmt.Sprintf("yields %s; expected %s", kind, wanted)}}
	}
	program, err := env.Program(checked, cel.CostLimit(maxExprCost))
	if err != nil {
		return nil, ExprErrors{{Line: 1, Column: 1, Message: err.Error()}}
	}
	_, bare := Words(text)
	root := checked.NativeRep()
	return &Expr{
		text: bare, program: program, kind: kind, reads: mentioned(root.Expr()), golden: readsGolden(root),
	}, nil
}

// Check is nil if text can stand under expect.that: it compiles, and does not read
// "golden", which only runs with perturbations have.
func Check(text string) error {
	e, err := Compile(text)
	if err == nil && e.golden != nil {
		return ExprErrors{*e.golden}
	}
	return err
}

// CheckInvariant is nil if text can stand under invariants: it compiles, and reads
// something of the run, without which it could not tell a good one from a bad one.
func CheckInvariant(text string) error {
	e, err := Compile(text)
	if err != nil {
		return err
	}
	for _, fact := range e.reads {
		if fact != "golden" && !strings.HasPrefix(fact, "golden.") {
			return nil
		}
	}
	message := "reads no fact of the run, so that it is the same for all; compare a fact such as calls.total or run.status"
	return ExprErrors{{Line: 1, Column: 1, Message: message}}
}

// environment is prepared at the first expression: it costs milliseconds, which a
// program that judges nothing must not pay.
var environment = sync.OnceValues(func() (*cel.Env, error) {
	options := []cel.EnvOption{
		cel.CrossTypeNumericComparisons(true),
		cel.ParserExpressionSizeLimit(maxExprLength),
		cel.ParserRecursionLimit(maxExprDepth),
		ext.Strings(),
		ext.NativeTypes(reflect.TypeFor[measure.Facts](), reflect.TypeFor[event.Event](), ext.ParseStructField(fieldName)),
	}
	for f := range reflect.TypeFor[measure.Facts]().Fields() {
		options = append(options, cel.Variable(fieldName(f), typeOf(f.Type)))
	}
	return cel.NewEnv(options...)
})

// fieldName is the name of a field in expressions: that of the cel tag, else of
// the json tag.
func fieldName(f reflect.StructField) string {
	if name, tagged := f.Tag.Lookup("cel"); tagged {
		return name
	}
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

func typeOf(t reflect.Type) *cel.Type {
	switch t.Kind() {
	case reflect.Struct:
		return cel.ObjectType(t.String())
	case reflect.Slice:
		return cel.ListType(typeOf(t.Elem()))
	case reflect.Map:
		return cel.MapType(typeOf(t.Key()), typeOf(t.Elem()))
	case reflect.String:
		return cel.StringType
	case reflect.Bool:
		return cel.BoolType
	default:
		return cel.DynType
	}
}

// activation looks variables up in facts.
type activation struct{ facts reflect.Value }

func (a activation) Parent() cel.Activation { return nil }

func (a activation) ResolveName(name string) (any, bool) {
	i := slices.Index(variableNames(), name)
	if i < 0 {
		return nil, false
	}
	field := a.facts.Field(i)
	if field.Kind() == reflect.Struct {
		field = field.Addr() // no copy
	}
	return field.Interface(), true
}

// variableNames are the names of the fields of measure.Facts in their order.
var variableNames = sync.OnceValue(func() []string { return fieldNames(reflect.TypeFor[measure.Facts]()) })

func fieldNames(t reflect.Type) []string {
	var names []string
	for f := range t.Fields() {
		names = append(names, fieldName(f))
	}
	return names
}

// judge evaluates the expression; ok means that it holds, and that every fact it
// mentions is known. A fact that is mentioned counts as needed, even where the
// other side of an "or" would do without it.
//
// An expression that cannot be evaluated does not hold: it asks for the third
// answer of an agent that gave two. Only one that was too costly says nothing.
func (e *Expr) judge(vars activation) (finding Finding, ok bool) {
	facts := vars.facts.Addr().Interface().(*measure.Facts)
	if f, unknown := e.unknown(facts); unknown {
		return f, false
	}
	result, _, err := e.program.Eval(vars)
	if result == types.True {
		return Finding{}, true
	}
	finding = Finding{Severity: Failing, Message: "does not hold: " + e.text, Evidence: e.show(vars)}
	if err != nil {
		finding.Message += " (" + err.Error() + ")"
	}
	if _, stopped := errors.AsType[interpreter.EvalCancelledError](err); stopped {
		finding.Severity = Broken
	}
	return finding, false
}

// unknown says whether the expression reads a fact that is unknown and does not
// ask itself whether it is known.
func (e *Expr) unknown(f *measure.Facts) (Finding, bool) {
	for _, u := range []struct {
		known    bool
		severity Severity
		facts    string // prefix of what is unknown
		asks     string // what an expression reads that takes care of it
		why      string
	}{
		{f.Cost.Known, Failing, "cost", "cost.known", f.Cost.Why},
		{f.Tokens.Known, Failing, "tokens", "tokens.known", "a call was answered without usage"},
		{f.Latency.N > 0, Broken, "latency", "latency.n", "no call's latency is known"},
		{f.Run.DurationKnown, Broken, "run.duration", "run.duration_known", "no duration was recorded"},
		{f.Golden.Status != "", Broken, "golden", "golden.status", "no golden run was recorded with this one"},
		{f.Golden.Cost.Known || f.Golden.Status == "", Failing, "golden.cost", "golden.cost.known", f.Golden.Cost.Why},
		{f.Golden.Tokens.Known || f.Golden.Status == "", Failing, "golden.tokens", "golden.tokens.known", "a call of the golden run was answered without usage"},
	} {
		if u.known || slices.Contains(e.reads, u.asks) {
			continue
		}
		for _, fact := range e.reads {
			if fact == u.facts || strings.HasPrefix(fact, u.facts+".") {
				return Finding{Severity: u.severity, Message: fmt.Sprintf("%s is unknown: %s", fact, e.text), Evidence: u.why}, true
			}
		}
	}
	return Finding{}, false
}

// show lists the values of what the expression reads. A key that a mapping lacks
// is shown as the mapping.
func (e *Expr) show(vars activation) string {
	lines := make([]string, len(e.reads))
	for i, fact := range e.reads {
		path, v := vars.walk(strings.Split(fact, "."))
		text, err := json.Marshal(v.Interface())
		if err != nil { // a fact that JSON cannot hold, such as infinity
			text = fmt.Append(nil, v.Interface())
		}
		lines[i] = path + " = " + clip(string(text))
	}
	return strings.Join(lines, "; ")
}

// walk follows names through structs and mappings as far as they lead.
func (a activation) walk(names []string) (path string, v reflect.Value) {
	v = a.facts
	for i, name := range names {
		next := reflect.Value{}
		switch v.Kind() {
		case reflect.Struct:
			if at := slices.Index(fieldNames(v.Type()), name); at >= 0 {
				next = v.Field(at)
			}
		case reflect.Map:
			next = v.MapIndex(reflect.ValueOf(name))
		}
		if !next.IsValid() {
			return strings.Join(names[:i], "."), v
		}
		v = next
	}
	return strings.Join(names, "."), v
}

func clip(s string) string {
	if r := []rune(s); len(r) > maxShown {
		return string(r[:maxShown]) + "…"
	}
	return s
}

// mentioned lists the facts that an expression reads, each as its longest path
// of names, in the order of first mention.
func mentioned(e ast.Expr) []string {
	var paths []string
	ast.PreOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) {
		path, ok := pathOf(e)
		if !ok || !slices.Contains(variableNames(), strings.SplitN(path, ".", 2)[0]) {
			return
		}
		// A path comes before its own beginnings, which are visited after it.
		if !slices.ContainsFunc(paths, func(p string) bool { return p == path || strings.HasPrefix(p, path+".") }) {
			paths = append(paths, path)
		}
	}))
	return paths
}

// pathOf returns the dotted path of an expression that is nothing but one.
func pathOf(e ast.Expr) (string, bool) {
	switch e.Kind() {
	case ast.IdentKind:
		return e.AsIdent(), true
	case ast.SelectKind:
		if path, ok := pathOf(e.AsSelect().Operand()); ok && !e.AsSelect().IsTestOnly() {
			return path + "." + e.AsSelect().FieldName(), true
		}
	}
	return "", false
}
