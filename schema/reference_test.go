package schema_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/schema"
)

var update = flag.Bool("update", false, "write the pages of docs/reference anew")

// titles are the headings and introductions of the pages, by format.
var titles = map[string][2]string{
	"scenario":   {"Keys of scenario files", "[scenarios.md](scenarios.md) explains them by task."},
	"script":     {"Keys of scripts", "`rehearse mock` serves a script; `backend.script` of a scenario names one. [protocols.md](protocols.md) has the protocols."},
	"config":     {"Keys of rehearse.yaml", "The configuration file is read from the current folder, or is the one of `--config`."},
	"plan":       {"Keys of plans", "`rehearse supervise` works through a plan; see [supervisor.md](supervisor.md)."},
	"agent":      {"Keys of agent files", "The front matter of an agent of `rehearse react`; see [react.md](react.md)."},
	"experiment": {"Keys of experiments", "`rehearse experiment` and `rehearse tune` read such a file; see [experiments.md](../how-to/experiments.md)."},
	"recording":  {"Members of recordings", "Each line has a type, and `hash` and `seq` before it; see [recording.md](recording.md)."},
}

// TestReference compares the pages of keys with the schemas; with -update it writes them.
func TestReference(t *testing.T) {
	for _, kind := range schema.Kinds() {
		t.Run(kind, func(t *testing.T) {
			want, err := page(kind)
			if err != nil {
				t.Fatal(err)
			}
			file := "../docs/reference/" + kind + "-keys.md"
			if *update {
				if err := os.WriteFile(file, []byte(want), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if got, err := os.ReadFile(file); err != nil || string(got) != want {
				t.Errorf("%s is not that of the schema (%v); run: make docs", file, err)
			}
		})
	}
}

// object is a JSON Schema.
type object struct {
	Ref         string             `json:"$ref"`
	Description string             `json:"description"`
	Type        string             `json:"type"`
	Const       any                `json:"const"`
	Enum        []any              `json:"enum"`
	Default     any                `json:"default"`
	Examples    []any              `json:"examples"`
	Minimum     json.Number        `json:"minimum"`
	Maximum     json.Number        `json:"maximum"`
	Properties  map[string]*object `json:"properties"`
	Items       json.RawMessage    `json:"items"`
	Additional  json.RawMessage    `json:"additionalProperties"`
	OneOf       []*object          `json:"oneOf"`
	AnyOf       []*object          `json:"anyOf"`
	Required    []string           `json:"required"`
	Defs        map[string]*object `json:"$defs"`
}

// UnmarshalJSON also reads the schema true, which allows everything.
func (o *object) UnmarshalJSON(text []byte) error {
	if string(text) == "true" {
		return nil
	}
	type plain object
	return json.Unmarshal(text, (*plain)(o))
}

// page returns the page of a format: a table of the keys of the file, and one for each part that has keys of its own.
func page(kind string) (string, error) {
	var root object
	if err := json.Unmarshal(schema.Of(kind), &root); err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n<!-- Generated from schema/%s.json by `make docs`. Do not edit. -->\n\n%s\n`rehearse schema %s` prints the same as JSON Schema.\n\n"+
		"**Required** keys are in bold.\n", titles[kind][0], kind, titles[kind][1], kind)
	w := writer{out: &b, defs: root.Defs, done: map[string]bool{}}
	if len(root.Properties) > 0 {
		w.table(&root)
	}
	for _, alternative := range root.OneOf {
		w.add(alternative.Ref)
	}
	for len(w.queue) > 0 {
		name := w.queue[0]
		w.queue = w.queue[1:]
		part := w.defs[name]
		fmt.Fprintf(&b, "\n## %s\n", name)
		if part.Description != "" {
			fmt.Fprintf(&b, "\n%s\n", text(part.Description))
		}
		w.table(part)
	}
	return b.String(), nil
}

// writer writes the tables of a page. Parts are written in the order in which they are first named.
type writer struct {
	out   *strings.Builder
	defs  map[string]*object
	done  map[string]bool
	queue []string
}

func (w *writer) table(o *object) {
	w.out.WriteString("\n| key | type | default | meaning |\n|---|---|---|---|\n")
	for _, key := range slices.Sorted(maps.Keys(o.Properties)) {
		w.row(key, o.Properties[key], slices.Contains(o.Required, key))
	}
}

func (w *writer) row(key string, o *object, required bool) {
	name := "`" + key + "`"
	if required {
		name = "**" + name + "**"
	}
	meaning := text(o.Description)
	if part := w.defs[strings.TrimPrefix(o.Ref, "#/$defs/")]; meaning == "" && part != nil {
		meaning, _, _ = strings.Cut(text(part.Description), ". ")
	}
	if len(o.Examples) > 0 {
		meaning += " Example: `" + code(o.Examples[0]) + "`"
	}
	value := ""
	if o.Default != nil {
		value = "`" + code(o.Default) + "`"
	}
	fmt.Fprintf(w.out, "| %s | %s | %s | %s |\n", name, w.typeOf(o), value, strings.TrimSpace(meaning))
	if len(o.Properties) > 0 { // an object without a name: its keys follow
		for _, inner := range slices.Sorted(maps.Keys(o.Properties)) {
			w.row(key+"."+inner, o.Properties[inner], false)
		}
	}
}

// typeOf describes the type of a value, and queues the parts that it names.
func (w *writer) typeOf(o *object) string {
	switch {
	case o == nil:
		return "anything"
	case o.Ref != "":
		return w.named(strings.TrimPrefix(o.Ref, "#/$defs/"))
	case o.Const != nil:
		return "`" + compact(o.Const) + "`"
	case len(o.Enum) > 0:
		words := make([]string, len(o.Enum))
		for i, word := range o.Enum {
			words[i] = "`" + compact(word) + "`"
		}
		return strings.Join(words, ", ")
	case len(o.OneOf)+len(o.AnyOf) > 0 && o.Type == "":
		var list []string
		for _, one := range append(o.OneOf, o.AnyOf...) {
			list = append(list, w.typeOf(one))
		}
		return strings.Join(list, " or ")
	case o.Type == "array":
		return "list of " + w.typeOf(nested(o.Items))
	case o.Type == "object" && len(o.Properties) == 0:
		if values := nested(o.Additional); values != nil {
			return "names with " + w.typeOf(values)
		}
	}
	kind := map[string]string{"string": "text", "integer": "whole number", "number": "number", "boolean": "`true` or `false`", "object": "keys"}[o.Type]
	switch {
	case o.Minimum != "" && o.Maximum != "":
		kind += fmt.Sprintf(", %s to %s", o.Minimum, o.Maximum)
	case o.Minimum != "":
		kind += ", at least " + o.Minimum.String()
	}
	if kind == "" {
		return "anything"
	}
	return kind
}

// named describes a part: lists, maps and scalars in place, others by a link to their table.
func (w *writer) named(name string) string {
	part := w.defs[name]
	if part == nil || len(part.Properties) == 0 {
		return w.typeOf(part)
	}
	w.add("#/$defs/" + name)
	return "[" + name + "](#" + anchor(name) + ")"
}

func (w *writer) add(ref string) {
	name := strings.TrimPrefix(ref, "#/$defs/")
	if !w.done[name] {
		w.done[name] = true
		w.queue = append(w.queue, name)
	}
}

// nested returns the schema of items or of further properties; nil if there is none.
func nested(text json.RawMessage) *object {
	var o object
	if len(text) == 0 || text[0] != '{' || json.Unmarshal(text, &o) != nil {
		return nil
	}
	return &o
}

func anchor(name string) string {
	return strings.ToLower(strings.NewReplacer(".", "", "/", "").Replace(name))
}

func compact(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(v) != nil {
		return fmt.Sprint(v)
	}
	return strings.TrimSpace(b.String())
}

// code returns a value for a code span in a table.
func code(v any) string { return strings.ReplaceAll(compact(v), "|", `\|`) }

// text escapes what Markdown would read in a table.
func text(s string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ", "<", "&lt;", "[", `\[`).Replace(strings.Join(strings.Fields(s), " "))
}
