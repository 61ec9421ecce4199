package experiment

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/internal/atomicdir"
	"github.com/rehearse-dev/rehearse/internal/jsonl"
	"github.com/rehearse-dev/rehearse/redact"
)

// AnswersFile is the name of the file with the answers of an experiment, beside its journal.
const AnswersFile = "answers.jsonl"

// The limits of stored answers, in bytes.
const (
	maxAnswer  = 16 << 10 // of one; the middle of a longer one is left out
	maxAnswers = 8 << 20  // of all
)

// answers are the distinct answers of an experiment, by their hashes. If their file is lost, results
// have no texts.
type answers struct {
	texts    map[string]string
	size     int
	redactor *redact.Redactor
	path     string
	file     *os.File
	log      *jsonl.Log // nil: nothing is stored
}

// answer is a line of the file.
type answer struct {
	Hash string `json:"hash"`
	Text string `json:"text"`
}

// openAnswers opens or creates the file beside a journal, and reads it. Without a journal, the
// answers are kept in memory.
func openAnswers(journal string, redactor *redact.Redactor) (*answers, error) {
	if redactor == nil {
		redactor = redact.New(nil)
	}
	a := &answers{texts: map[string]string{}, redactor: redactor}
	if journal == "" {
		return a, nil
	}
	a.path = filepath.Join(filepath.Dir(journal), AnswersFile)
	file, err := os.OpenFile(a.path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the answers of the experiment: %w", err)
	}
	a.file = file
	in, end := jsonl.NewReader(file, maxLine), int64(0)
	for {
		line, err := in.Next()
		var read answer
		if err != nil || in.Torn() || json.Unmarshal(line, &read) != nil {
			break // answers after a damaged line are written again when their trials are repeated
		}
		a.texts[read.Hash] = read.Text
		a.size += len(line)
		end = in.Offset()
	}
	a.log = jsonl.NewLog(file, end, 0)
	if err := a.log.Cut(); err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("remove the remains of a crash from %s: %w", a.path, err)
	}
	return a, nil
}

// add stores an answer, unless it is known or would exceed maxAnswers, and returns its hash.
func (a *answers) add(text string) (string, error) {
	text = a.redactor.Text(shortened(text))
	sum := sha256.Sum256([]byte(text))
	hash := hex.EncodeToString(sum[:8])
	if _, known := a.texts[hash]; known {
		return hash, nil
	}
	line, err := json.Marshal(answer{hash, text})
	if err != nil {
		return "", fmt.Errorf("encode an answer: %w", err)
	}
	if a.size+len(line) > maxAnswers {
		return hash, nil
	}
	a.size += len(line)
	a.texts[hash] = text
	if a.log == nil {
		return hash, nil
	}
	if err := a.log.Append(append(line, '\n')); err != nil {
		return "", fmt.Errorf("write %s: %w", a.path, atomicdir.Explain(err))
	}
	return hash, nil
}

// close makes the file durable.
func (a *answers) close() error { return closeLog(a.log, a.path) }

// shortened leaves out the middle of a text beyond the limit.
func shortened(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= maxAnswer {
		return text
	}
	const half = maxAnswer / 2
	return strings.ToValidUTF8(text[:half], "") + fmt.Sprintf("\n… %d bytes are left out …\n", len(text)-2*half) +
		strings.ToValidUTF8(text[len(text)-half:], "")
}

// answerOf returns the answer of an agent in a trial: the answers of all turns of a conversation, or all
// replies of the model. Several answers are numbered.
func answerOf(f *measure.Facts) string {
	name, texts := "reply", f.Answers
	if len(f.Turns) > 0 {
		name, texts = "turn", nil
		for _, t := range f.Turns {
			texts = append(texts, cmp.Or(t.Text, t.Error))
		}
	}
	switch len(texts) {
	case 0:
		return f.Run.Text
	case 1:
		return texts[0]
	}
	var b strings.Builder
	for i, text := range texts {
		fmt.Fprintf(&b, "[%s %d]\n%s\n\n", name, i+1, text)
	}
	return strings.TrimSuffix(b.String(), "\n\n")
}

// reasonsOf returns the scores of a trial with their reasons.
func (a *answers) reasonsOf(f *measure.Facts) []result.Reason {
	const maxReason, maxReasons = 500, 20
	var list []result.Reason
	for i := range f.Events {
		score, ok := event.Read[record.Score](&f.Events[i])
		if !ok || score.Name == "" || len(list) == maxReasons {
			continue
		}
		why := f.Events[i].Detail
		if len(why) > maxReason {
			why = strings.ToValidUTF8(why[:maxReason], "") + "…"
		}
		list = append(list, result.Reason{Score: score.Name, Pass: score.Pass, Why: a.redactor.Text(why)})
	}
	return list
}

// The limits of the pairs that a comparison shows.
const (
	maxPairsOfScenario = 3
	maxPairsOfAll      = 30
)

// pairs returns examples for a comparison by the primary measure: for each scenario, the pairs of trials
// that differ most in each direction, or the first pair if all are equal.
func (r *run) pairs(c *result.Comparison) (list []result.Pair) {
	after, before := slices.Index(r.decider.variants, c.Variant), slices.Index(r.decider.variants, c.Against)
	for s, name := range r.decider.scenarios {
		if r.skipped[s] != "" {
			continue
		}
		var of []result.Pair
		for i := range min(len(r.trials[before][s]), len(r.trials[after][s])) {
			a, b := r.trials[before][s][i], r.trials[after][s][i]
			if a.Answer == "" && b.Answer == "" {
				continue
			}
			of = append(of, result.Pair{Scenario: name, Trial: i + 1, Before: r.side(a, c.Measure), After: r.side(b, c.Measure)})
		}
		list = append(list, deciding(of)...)
	}
	return list[:min(len(list), maxPairsOfAll)]
}

func (r *run) side(o *outcome, name string) result.Side {
	s := result.Side{Verdict: o.Verdict, Hash: o.Answer, Text: r.answers.texts[o.Answer], Reasons: o.Reasons}
	if v, known := o.Values[name]; known {
		s.Value = &v
	}
	return s
}

// deciding returns the pairs that differ most: two in the direction in which more pairs differ, and one in
// the other direction.
func deciding(pairs []result.Pair) []result.Pair {
	var up, down []result.Pair
	for _, p := range pairs {
		switch d := differenceOf(&p); {
		case d > 0:
			up = append(up, p)
		case d < 0:
			down = append(down, p)
		}
	}
	if len(up)+len(down) == 0 {
		return pairs[:min(len(pairs), 1)]
	}
	most := func(a, b result.Pair) int {
		return cmp.Compare(math.Abs(differenceOf(&b)), math.Abs(differenceOf(&a)))
	}
	slices.SortStableFunc(up, most)
	slices.SortStableFunc(down, most)
	more, fewer := up, down
	if len(down) > len(up) {
		more, fewer = down, up
	}
	return slices.Concat(more[:min(len(more), maxPairsOfScenario-1)], fewer[:min(len(fewer), 1)])
}

// differenceOf returns the difference of a pair; 0 if a side is unknown.
func differenceOf(p *result.Pair) float64 {
	if p.Before.Value == nil || p.After.Value == nil {
		return 0
	}
	return *p.After.Value - *p.Before.Value
}
