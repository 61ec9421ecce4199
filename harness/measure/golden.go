package measure

import (
	"fmt"
	"maps"
	"reflect"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/rehearse-dev/rehearse/internal/format"
)

// Golden has the facts of an unperturbed run, with which perturbed ones are compared: the
// variables "golden.status" and so on of invariants. It has no events and no single answers.
type Golden struct {
	Status     string     `cel:"status" json:"status"`
	ExitCode   int        `cel:"exit_code" json:"exit_code"`
	Text       string     `cel:"text" json:"text,omitempty"` // the run's result
	Iterations int        `cel:"iterations" json:"iterations"`
	Duration   float64    `cel:"duration" json:"duration"` // seconds on the trial's clock; 0 in real time
	Writes     int        `cel:"writes" json:"writes,omitempty"`
	Calls      CallFacts  `cel:"calls" json:"calls"`
	Tokens     TokenFacts `cel:"tokens" json:"tokens"`
	Cost       CostFacts  `cel:"cost" json:"cost"`
	// Recalled has the user's messages of earlier turns that requests of an external agent contain.
	Recalled []string `cel:"recalled" json:"recalled,omitempty"`
	// Files are the beginnings of the files that an external agent left, by path.
	Files map[string]string `cel:"files" json:"files,omitempty"`
	// Extensions has the nonzero facts of extensions by name. In JSON, each is a key beside
	// the others; as read from JSON they are jsontext.Values.
	Extensions map[string]any `cel:"-" json:"-"`
}

// GoldenOf returns the facts of f with which perturbed runs are compared.
func GoldenOf(f *Facts) Golden {
	g := Golden{
		Status: f.Run.Status, ExitCode: f.Run.ExitCode, Text: f.Run.Text,
		Iterations: f.Run.Iterations, Duration: f.Run.Duration, Writes: f.Run.Writes, Recalled: f.Run.Recalled,
		Calls: f.Calls, Tokens: f.Tokens, Cost: f.Cost, Extensions: maps.Clone(f.Extensions),
	}
	maps.DeleteFunc(g.Extensions, func(_ string, facts any) bool { return reflect.ValueOf(facts).Elem().IsZero() })
	if len(f.Turns) > 0 {
		g.Files = f.Files
	}
	return g
}

// goldenFields are the fields of Golden without its methods.
type goldenFields Golden

// MarshalJSON implements json.Marshaler.
func (g Golden) MarshalJSON() ([]byte, error) {
	return format.Marshal(struct {
		goldenFields
		Extensions map[string]any `json:",embed"`
	}{goldenFields(g), g.Extensions})
}

// UnmarshalJSON implements json.Unmarshaler.
func (g *Golden) UnmarshalJSON(data []byte) error {
	var read struct {
		goldenFields
		Extensions map[string]jsontext.Value `json:",embed"`
	}
	if err := json.Unmarshal(data, &read); err != nil {
		return err
	}
	*g = Golden(read.goldenFields)
	for name, facts := range read.Extensions {
		if g.Extensions == nil {
			g.Extensions = map[string]any{}
		}
		g.Extensions[name] = facts
	}
	return nil
}

// decode reads the facts of the extensions from their JSON, and drops others.
func (g *Golden) decode(extensions []Extension) error {
	var decoded map[string]any
	for i := range extensions {
		e := &extensions[i]
		recorded, ok := g.Extensions[e.Name].(jsontext.Value)
		if !ok {
			continue
		}
		facts := reflect.New(reflect.TypeOf(e.Zero).Elem()).Interface()
		if err := json.Unmarshal(recorded, facts); err != nil {
			return fmt.Errorf("%s: %w", e.Name, err)
		}
		if decoded == nil {
			decoded = map[string]any{}
		}
		decoded[e.Name] = facts
	}
	g.Extensions = decoded
	return nil
}
