package harness

import (
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
)

// Rejudge returns a function that measures and judges recorded trials as Run did
// when it recorded them. Timings, which may be nil, are the lines of the timings
// file beside the recording. The function is safe for concurrent use.
func Rejudge(timings io.Reader) (func(record.Scenario, record.Trial) (measure.Facts, []gate.Finding, error), error) {
	times, err := readTimings(timings)
	if err != nil {
		return nil, err
	}
	var judges sync.Map // by name of the scenario
	return func(sc record.Scenario, trial record.Trial) (measure.Facts, []gate.Finding, error) {
		known, ok := judges.Load(sc.Name)
		if !ok {
			judge, err := gate.NewJudge(sc.Expect)
			if err != nil {
				return measure.Facts{}, nil, err
			}
			known, _ = judges.LoadOrStore(sc.Name, judge)
		}
		facts := measure.Of(sc, trial, times[trialKey{sc.Name, trial.Head.N}])
		return facts, known.(*gate.Judge).Judge(facts), nil
	}, nil
}

type trialKey struct {
	scenario string
	n        int
}

// readTimings reads all timings; only trials in real time have any. A torn last
// line is that of a run which was killed, and its trial is in no recording.
func readTimings(r io.Reader) (map[trialKey][]record.Timing, error) {
	times := map[trialKey][]record.Timing{}
	if r == nil {
		return times, nil
	}
	dec := jsontext.NewDecoder(r)
	for n := 1; ; n++ {
		var t record.Timing
		err := json.UnmarshalDecode(dec, &t)
		switch {
		case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
			return times, nil
		case err != nil:
			return nil, fmt.Errorf("read line %d of the timings: %w", n, err)
		}
		key := trialKey{t.Scenario, t.Trial}
		times[key] = append(times[key], t)
	}
}
