package intrusion

import (
	"bufio"
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/rehearse-dev/rehearse/internal/logistic"
)

// Model has the weights of the features, in log-odds for each unit of the feature.
type Model struct {
	bias    float64
	weights map[string]float64
}

//go:embed weights.txt
var shipped []byte

// Shipped returns the model of this version, which is loaded on the first use.
var Shipped = sync.OnceValue(func() *Model {
	m, err := Read(shipped)
	if err != nil {
		panic("the shipped weights cannot be read: " + err.Error())
	}
	return m
})

// biasName is the name of the bias in a file of weights.
const biasName = "(bias)"

// step is the precision of weights in a file.
const step = 0.01

// Read reads weights: a line for each feature, with its weight in hundredths, a tab and its name.
func Read(file []byte) (*Model, error) {
	m := &Model{weights: make(map[string]float64, bytes.Count(file, []byte("\n")))}
	lines := bufio.NewScanner(bytes.NewReader(file))
	for n := 1; lines.Scan(); n++ {
		number, name, ok := strings.Cut(lines.Text(), "\t")
		weight, err := strconv.Atoi(number)
		if !ok || err != nil {
			return nil, fmt.Errorf("read weights: line %d is not a number, a tab and a feature", n)
		}
		m.weights[name] = float64(weight) * step
	}
	bias, ok := m.weights[biasName]
	if !ok {
		return nil, errors.New("read weights: the bias is missing")
	}
	m.bias = bias
	delete(m.weights, biasName)
	return m, lines.Err()
}

// Bytes returns the weights in the form that Read reads.
func (m *Model) Bytes() []byte {
	var b bytes.Buffer
	line := func(name string, weight float64) {
		if n := math.Round(weight / step); n != 0 || name == biasName {
			fmt.Fprintf(&b, "%.0f\t%s\n", n, name)
		}
	}
	line(biasName, m.bias)
	for _, name := range slices.Sorted(maps.Keys(m.weights)) {
		line(name, m.weights[name])
	}
	return b.Bytes()
}

// Estimate is the judgement of a model on a text.
type Estimate struct {
	// LogOdds are those of a text that asks about, or infers, the private situation of the person addressed.
	LogOdds float64
	// Words are the words of the text with the largest weights, at most three, in order.
	Words []Span
}

// Span is a part of a text, in bytes.
type Span struct{ Start, End int }

// Probability returns the probability of the estimate.
func (e Estimate) Probability() float64 { return logistic.Probability(e.LogOdds) }

// maxSpans is the maximum number of words that explain an estimate.
const maxSpans = 3

// Estimate judges a text.
func (m *Model) Estimate(text string) Estimate {
	e := Estimate{LogOdds: m.bias}
	parts := map[Span]float64{}
	for _, f := range features(text) {
		part := f.value * m.weights[f.name]
		e.LogOdds += part
		if f.end > 0 {
			parts[Span{f.start, f.end}] += part
		}
	}
	spans := slices.SortedFunc(maps.Keys(parts), func(a, b Span) int {
		if parts[a] != parts[b] {
			if parts[a] > parts[b] {
				return -1
			}
			return 1
		}
		return a.Start - b.Start
	})
	for _, s := range spans {
		if len(e.Words) == maxSpans || parts[s] <= 0 {
			break
		}
		if !slices.ContainsFunc(e.Words, func(o Span) bool { return o.Start < s.End && s.Start < o.End }) {
			e.Words = append(e.Words, s)
		}
	}
	slices.SortFunc(e.Words, func(a, b Span) int { return a.Start - b.Start })
	return e
}
