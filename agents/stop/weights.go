package stop

import (
	"bytes"
	_ "embed"
	"fmt"
	"math"
	"os"
	"slices"
	"sync"

	"github.com/rehearse-dev/rehearse/agents/stop/internal/learned"
)

// Weights are the learned weights of the guard: a linear model for each class over the
// features of a message.
type Weights = learned.Weights

// ReadWeightsFile reads the weights of a file, as `rehearse detect --fit --out` writes them. No name means those of
// this version.
func ReadWeightsFile(name string) (*Weights, error) {
	if name == "" {
		return ShippedWeights(), nil
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("read weights: %w", err)
	}
	defer file.Close()
	w, err := learned.Read(file)
	if err != nil {
		return nil, fmt.Errorf("read weights %s: %w", name, err)
	}
	return w, nil
}

//go:embed weights.bin
var shipped []byte

// ShippedWeights returns the weights of this version. They must not be changed.
var ShippedWeights = sync.OnceValue(func() *Weights {
	w, err := learned.Read(bytes.NewReader(shipped))
	if err != nil {
		panic("the shipped weights cannot be read: " + err.Error())
	}
	return w
})

// classOrder is the order of the classes in a row of weights.
var classOrder = [learned.Classes]Class{Defers, Asks, Suggests, Clean}

// estimate is the result of applying weights to a message.
type estimate struct {
	// probabilities of the classes, in classOrder. They sum up to 1.
	probabilities [learned.Classes]float64
	// bias, words and request are the parts of the log-odds that the message defers that come from
	// the bias, the runs of words and the request; signals has the part of each signal.
	bias, words, request float64
	signals              map[string]float64
}

// estimate adds up the weights of the features of a message that answers the request q.
func (r *reading) estimate(q *reading, w *Weights) estimate {
	o := estimate{bias: w.Bias[0], signals: map[string]float64{}}
	logits := w.Bias
	r.features(q, func(f Feature) {
		row, ok := w.Named[f.Name]
		if f.Name == "" {
			row, ok = w.Hashed(f.Hash)
		}
		if !ok {
			return
		}
		for c := range logits {
			logits[c] += row[c] * f.Value
		}
		switch defers := row[0] * f.Value; f.Group {
		case SignalFeatures:
			o.signals[f.Name] += defers
		case WordFeatures:
			o.words += defers
		default:
			o.request += defers
		}
	})
	o.probabilities = normalize(logits)
	return o
}

// normalize returns the probabilities of the classes: the first by its own model, and the
// others by theirs, scaled to the rest. All are rounded to 0.0001, so that they are equal on
// all machines.
func normalize(logits learned.Row) (p [learned.Classes]float64) {
	rest := 0.0
	for c, x := range logits {
		p[c] = 1 / (1 + math.Exp(-x))
		if c > 0 {
			rest += p[c]
		}
	}
	for c := range p {
		if c > 0 {
			p[c] *= (1 - p[0]) / rest
		}
		p[c] = math.Round(p[c]*1e4) / 1e4
	}
	return p
}

// threshold returns the probability from which a policy refuses a message.
func threshold(w *Weights, p Policy) float64 {
	switch p {
	case Strict:
		return w.Thresholds.Strict
	case Careful:
		return w.Thresholds.Careful
	default:
		return w.Thresholds.Balanced
	}
}

// Policies returns the policies, the default first.
func Policies() []Policy { return []Policy{Balanced, Strict, Careful} }

// Validate returns an error if the policy does not exist. The empty one is Balanced.
func (p Policy) Validate() error {
	if p != "" && !slices.Contains(Policies(), p) {
		return fmt.Errorf("policy %q does not exist; choose from %q", p, Policies())
	}
	return nil
}
