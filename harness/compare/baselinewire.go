package compare

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/stat"
)

// wire is the JSON form of the file.
type wire struct {
	Schema    string                 `json:"schema"`
	About     string                 `json:"about"`
	Prices    string                 `json:"prices"`
	Rules     Rules                  `json:"rules"`
	Gates     string                 `json:"gates"`
	Sum       string                 `json:"sum"`
	Scenarios ordered[*wireScenario] `json:"scenarios"`
}

type wireScenario struct {
	Verdict      gate.Verdict         `json:"verdict"`
	Status       string               `json:"status"`
	Trials       Trials               `json:"trials"`
	Ends         []End                `json:"ends"`
	Expectations wireExpectations     `json:"bar"`
	Files        map[string]string    `json:"files"`
	Measures     ordered[wireMeasure] `json:"measures"`
	Stops        string               `json:"stops"`
	Sum          string               `json:"sum"`
}

type wireMeasure struct {
	Unit     string      `json:"unit,omitempty"`
	Unknown  bool        `json:"unknown,omitempty"`
	N        int         `json:"n"`
	Value    *float64    `json:"value,omitempty"`
	Interval *[2]float64 `json:"interval,omitempty"`
	Trials   []*float64  `json:"trials,omitempty"`
}

// wireExpectations decodes expectations, whose limits are in an object of their own.
type wireExpectations map[string]string

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (b *wireExpectations) UnmarshalJSONFrom(in *jsontext.Decoder) error {
	*b = wireExpectations{}
	return members(in, func(key string) error {
		if key == strings.TrimSuffix(limitsPrefix, ".") {
			return members(in, func(inner string) error { return b.take(in, limitsPrefix+inner) })
		}
		return b.take(in, key)
	})
}

func (b wireExpectations) take(in *jsontext.Decoder, key string) error {
	var text string
	if err := json.UnmarshalDecode(in, &text); err != nil {
		return err
	}
	if _, twice := b[key]; twice {
		return fmt.Errorf("the expectation %q is repeated", key)
	}
	b[key] = text
	return nil
}

// ordered is a JSON object that preserves the order of its members.
type ordered[T any] []member[T]

type member[T any] struct {
	key   string
	value T
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (o *ordered[T]) UnmarshalJSONFrom(in *jsontext.Decoder) error {
	*o = nil
	return members(in, func(key string) error {
		if n := len(*o); n > 0 && (*o)[n-1].key >= key {
			return fmt.Errorf("%q must come before %q: names are sorted", key, (*o)[n-1].key)
		}
		var value T
		if err := json.UnmarshalDecode(in, &value); err != nil {
			return err
		}
		*o = append(*o, member[T]{key, value})
		return nil
	})
}

// members calls take for each member of an object, positioned at the member's value.
func members(in *jsontext.Decoder, take func(key string) error) error {
	if kind := in.PeekKind(); kind != '{' {
		return errors.New("expected an object")
	}
	if _, err := in.ReadToken(); err != nil {
		return err
	}
	for in.PeekKind() != '}' {
		key, err := in.ReadToken()
		if err != nil {
			return err
		}
		if err := take(key.String()); err != nil {
			return err
		}
	}
	_, err := in.ReadToken()
	return err
}

// scenario returns the decoded scenario, or an error if its values contradict each other.
func (w *wireScenario) scenario(name string) (Scenario, error) {
	s := Scenario{
		Name: name, RealTime: w.Expectations["clock"] == "real", Verdict: w.Verdict, Status: w.Status,
		Trials: w.Trials, Ends: w.Ends, Expectations: w.Expectations, Files: w.Files, Stops: w.Stops,
	}
	t := w.Trials
	switch {
	case !slices.Contains([]gate.Verdict{gate.Pass, gate.Fail, gate.Error, gate.Skip}, w.Verdict):
		return s, fmt.Errorf("unknown verdict %q", w.Verdict)
	case t.Planned < 1 || min(t.Pass, t.Fail, t.Error, t.Skip) < 0 || t.Total() > t.Planned:
		return s, fmt.Errorf("impossible counts: %d of %d trials", t.Total(), t.Planned)
	case len(w.Ends) > min(t.Planned, MaxTrials):
		return s, fmt.Errorf("there are %d ends of %d trials", len(w.Ends), t.Planned)
	case strings.Trim(w.Stops, "PpNn") != "":
		return s, fmt.Errorf("%q are not judgements of a stop guard", w.Stops)
	}
	for _, m := range w.Measures {
		measure, err := m.value.measure(m.key, t.Planned)
		if err != nil {
			return s, fmt.Errorf("measures.%s: %w", m.key, err)
		}
		s.Measures = append(s.Measures, measure)
	}
	return s, nil
}

func (w *wireMeasure) measure(name string, planned int) (Measure, error) {
	m := Measure{Name: name, Unit: w.Unit, Known: !w.Unknown, N: w.N, Value: w.Value, Trials: w.Trials}
	switch {
	case w.N < 0 || w.N > planned:
		return m, fmt.Errorf("n must be between 0 and %d, got %d", planned, w.N)
	case (w.N == 0) != (w.Value == nil):
		return m, errors.New("value must be given if n is not 0, and only then")
	case len(w.Trials) > min(planned, MaxTrials):
		return m, fmt.Errorf("there are values of %d trials; at most %d are possible", len(w.Trials), min(planned, MaxTrials))
	}
	if in := w.Interval; in != nil {
		if in[0] > in[1] {
			return m, fmt.Errorf("the interval from %g to %g is empty", in[0], in[1])
		}
		m.Interval = &stat.Interval{Lo: in[0], Hi: in[1], Level: stat.Level, Method: "student-t", N: w.N}
	}
	return m, nil
}
