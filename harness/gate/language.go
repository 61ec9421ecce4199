package gate

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/ext"

	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/measure"
)

// Language compiles and caches expressions. It knows the extensions, whose facts are variables, and
// the invariants of each kind of agent. It is safe for concurrent use. A nil Language knows the
// core facts only, and no agent.
type Language struct {
	extensions []measure.Extension
	invariants map[string][]Invariant
	variables  []variable
	// environment is created for the first expression, because that takes milliseconds.
	environment func() (*cel.Env, error)
	compiled    sync.Map // string → *expression
	numbers     sync.Map // string → *Number
}

// core is the language of a nil Language.
var core = NewLanguage(nil, nil)

// NewLanguage returns a language with extensions, and with invariants by kind of agent, as named by
// record.Scenario.Agent.
func NewLanguage(extensions []measure.Extension, invariants map[string][]Invariant) *Language {
	l := &Language{extensions: extensions, invariants: invariants, variables: variablesOf(extensions)}
	l.environment = sync.OnceValues(l.newEnvironment)
	return l
}

func (l *Language) orCore() *Language {
	if l == nil {
		return core
	}
	return l
}

// Extensions returns the extensions of the language.
func (l *Language) Extensions() []measure.Extension { return l.orCore().extensions }

// Invariants returns the invariants of a kind of agent in their text form, by default those of
// General.
func (l *Language) Invariants(agent string) []string {
	all, ok := l.orCore().invariants[agent]
	if !ok {
		all = General(Tolerance{})
	}
	texts := make([]string, len(all))
	for i := range all {
		texts[i] = all[i].String()
	}
	return texts
}

// variable is a name that expressions can read.
type variable struct {
	name  string
	typ   reflect.Type
	value func(*measure.Facts) reflect.Value
}

// variablesOf returns the fields of measure.Facts, the extensions and, below golden, those of the
// golden run.
func variablesOf(extensions []measure.Extension) []variable {
	all := fieldVariables("", reflect.TypeFor[measure.Facts](), func(f *measure.Facts) reflect.Value { return reflect.ValueOf(f).Elem() })
	all = append(all, extensionVariables("", extensions, func(f *measure.Facts) map[string]any { return f.Extensions })...)
	all = append(all, fieldVariables(goldenPrefix, reflect.TypeFor[measure.Golden](), func(f *measure.Facts) reflect.Value {
		return reflect.ValueOf(&f.Golden).Elem()
	})...)
	return append(all, extensionVariables(goldenPrefix, extensions, func(f *measure.Facts) map[string]any { return f.Golden.Extensions })...)
}

func fieldVariables(prefix string, t reflect.Type, of func(*measure.Facts) reflect.Value) (all []variable) {
	for i, name := range fieldNames(t) {
		if name == "-" || name == goldenName {
			continue
		}
		all = append(all, variable{prefix + name, t.Field(i).Type, func(f *measure.Facts) reflect.Value { return of(f).Field(i) }})
	}
	return all
}

func extensionVariables(prefix string, extensions []measure.Extension, of func(*measure.Facts) map[string]any) (all []variable) {
	for i := range extensions {
		e := &extensions[i]
		zero := reflect.ValueOf(e.Zero).Elem()
		all = append(all, variable{prefix + e.Name, zero.Type(), func(f *measure.Facts) reflect.Value {
			if facts := of(f)[e.Name]; facts != nil {
				return reflect.ValueOf(facts).Elem()
			}
			return zero
		}})
	}
	return all
}

// newEnvironment declares the variables for CEL.
func (l *Language) newEnvironment() (*cel.Env, error) {
	native := []any{reflect.TypeFor[event.Event](), ext.ParseStructField(fieldName)}
	types := map[string]reflect.Type{}
	var declared []cel.EnvOption
	for _, v := range l.variables {
		declared = append(declared, cel.Variable(v.name, celType(v.typ)))
		structure := v.typ
		if structure.Kind() == reflect.Slice {
			structure = structure.Elem()
		}
		if structure.Kind() != reflect.Struct {
			continue
		}
		if other, ok := types[structure.String()]; ok && other != structure {
			return nil, fmt.Errorf("two extensions have facts of the type %s: rename one of the types", structure)
		}
		types[structure.String()] = structure
	}
	for _, structure := range types {
		native = append(native, structure)
	}
	return cel.NewEnv(append(declared,
		cel.CrossTypeNumericComparisons(true),
		cel.ParserExpressionSizeLimit(maxExprLength),
		cel.ParserRecursionLimit(maxExprDepth),
		ext.Strings(),
		ext.NativeTypes(native...),
	)...)
}

// fieldName returns the name of a field in expressions, from the cel tag or else the json tag.
func fieldName(f reflect.StructField) string {
	if name, tagged := f.Tag.Lookup("cel"); tagged {
		return name
	}
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

// fieldNames returns the names of the fields of a struct; none for another type.
func fieldNames(t reflect.Type) (names []string) {
	if t.Kind() != reflect.Struct {
		return nil
	}
	for f := range t.Fields() {
		names = append(names, fieldName(f))
	}
	return names
}

func celType(t reflect.Type) *cel.Type {
	switch t.Kind() {
	case reflect.Struct:
		return cel.ObjectType(t.String())
	case reflect.Slice:
		return cel.ListType(celType(t.Elem()))
	case reflect.Map:
		return cel.MapType(celType(t.Key()), celType(t.Elem()))
	case reflect.String:
		return cel.StringType
	case reflect.Bool:
		return cel.BoolType
	case reflect.Int:
		return cel.IntType
	case reflect.Float64:
		return cel.DoubleType
	default:
		return cel.DynType
	}
}

// variable returns the variable at the beginning of a dotted path, or nil, and the rest of the path.
func (l *Language) variable(path string) (v *variable, rest []string) {
	i := slices.IndexFunc(l.variables, func(v variable) bool {
		return path == v.name || strings.HasPrefix(path, v.name+".")
	})
	if i < 0 {
		return nil, nil
	}
	v = &l.variables[i]
	if path = strings.TrimPrefix(path[len(v.name):], "."); path != "" {
		rest = strings.Split(path, ".")
	}
	return v, rest
}

// activation resolves variables from facts.
type activation struct {
	language *Language
	facts    *measure.Facts
}

// Parent implements cel.Activation.
func (a activation) Parent() cel.Activation { return nil }

// ResolveName implements cel.Activation.
func (a activation) ResolveName(name string) (any, bool) {
	i := slices.IndexFunc(a.language.variables, func(v variable) bool { return v.name == name })
	if i < 0 {
		return nil, false
	}
	value := a.language.variables[i].value(a.facts)
	if value.Kind() == reflect.Struct {
		value = value.Addr() // avoids a copy
	}
	return value.Interface(), true
}

// follow returns the value at the longest resolvable part of a path, and the length of that part.
func (a activation) follow(path string) (followed string, value reflect.Value) {
	v, rest := a.language.variable(path)
	followed, value = v.name, v.value(a.facts)
	for _, name := range rest {
		next, shown := reflect.Value{}, "."+name
		switch value.Kind() {
		case reflect.Struct:
			if at := slices.Index(fieldNames(value.Type()), name); at >= 0 {
				next = value.Field(at)
			}
		case reflect.Map:
			next = value.MapIndex(reflect.ValueOf(name))
		case reflect.Slice:
			if n, err := strconv.Atoi(name); err == nil && 0 <= n && n < value.Len() {
				next, shown = value.Index(n), "["+name+"]"
			}
		default:
		}
		if !next.IsValid() {
			break
		}
		followed, value = followed+shown, next
	}
	return followed, value
}
