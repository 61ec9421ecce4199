package intrusion

import (
	"bytes"
	_ "embed"
	"fmt"
	"math"
	"sync"

	"github.com/rehearse-dev/rehearse/internal/logistic"
)

// Model has the weights of the features, in log-odds for each unit of the feature.
type Model struct {
	// Fitted is the digest of the set of examples to which the model was fitted, see Set.Digest.
	Fitted string

	bias, scale float64 // scale is the unit of weights
	weights     [columns]int8
}

//go:embed weights.bin
var shipped []byte

// Shipped returns the model of this version, which is loaded on the first use.
var Shipped = sync.OnceValue(func() *Model {
	m, err := Read(shipped)
	if err != nil {
		panic("the shipped weights cannot be read: " + err.Error())
	}
	return m
})

// header is the first line of a file of weights: the bias, the unit of weights, and Model.Fitted.
const header = "weights of private life, bias %g, unit %g, fitted to %s\n"

// Read reads weights: the header, and a signed byte for each column.
func Read(file []byte) (*Model, error) {
	var m Model
	line, weights, _ := bytes.Cut(file, []byte("\n"))
	if _, err := fmt.Sscanf(string(line)+"\n", header, &m.bias, &m.scale, &m.Fitted); err != nil {
		return nil, fmt.Errorf("read weights: the first line must be like %q: %w", header, err)
	}
	if len(weights) != columns {
		return nil, fmt.Errorf("read weights: %d bytes instead of %d", len(weights), columns)
	}
	for i, b := range weights {
		m.weights[i] = int8(b) //nolint:gosec // a signed byte
	}
	return &m, nil
}

// newModel returns a model with rounded weights.
func newModel(bias float64, weights []float64) *Model {
	m := &Model{bias: bias}
	for _, w := range weights {
		m.scale = max(m.scale, math.Abs(w)/math.MaxInt8)
	}
	if m.scale > 0 {
		for i, w := range weights {
			m.weights[i] = int8(math.Round(w / m.scale))
		}
	}
	return m
}

// Bytes returns the weights in the form that Read reads.
func (m *Model) Bytes() []byte {
	b := fmt.Appendf(nil, header, m.bias, m.scale, m.Fitted)
	for _, w := range m.weights {
		b = append(b, byte(w)) //nolint:gosec // a signed byte
	}
	return b
}

// Estimate is the judgement of a model on a text.
type Estimate struct {
	// LogOdds are those of a text that asks about, or infers, the private situation of the person addressed.
	LogOdds float64
	// Word is the word of the text with the largest weight, empty if none speaks for a private text.
	Word Span
}

// Span is a part of a text, in bytes.
type Span struct{ Start, End int }

// Probability returns the probability of the estimate.
func (e Estimate) Probability() float64 { return logistic.Probability(e.LogOdds) }

// Estimate judges a text.
func (m *Model) Estimate(text string) Estimate {
	r := read(text)
	var values [groups]float64
	for g := range groups {
		values[g] = m.scale * r.value(g)
	}
	e := Estimate{LogOdds: m.bias}
	parts := make([]float64, len(r.words))
	for _, f := range r.features {
		part := values[f.group] * float64(m.weights[f.column])
		e.LogOdds += part
		if f.word != noWord {
			parts[f.word] += part
		}
	}
	most := 0.0
	for i, part := range parts {
		if part > most {
			most, e.Word = part, Span{r.words[i].start, r.words[i].end}
		}
	}
	return e
}
