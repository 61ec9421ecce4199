package kind

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/rehearse-dev/rehearse/agents/react/reflect"
	"github.com/rehearse-dev/rehearse/agents/react/step"
	"github.com/rehearse-dev/rehearse/harness/detect"
	"github.com/rehearse-dev/rehearse/internal/textfold"
)

// ReflectionDetector returns the detector for complacent reflections of agents/react/reflect.
func ReflectionDetector() detect.Detector { return reflection{} }

type reflection struct{}

// Name implements detect.Detector.
func (reflection) Name() string { return "reflection" }

// Kind implements detect.Kinded.
func (reflection) Kind() detect.CorpusKind { return detect.Reflections }

// Detect implements detect.Detector.
func (reflection) Detect(_ context.Context, item detect.Item) (detect.Prediction, error) {
	observation, text, err := parseReflection(item)
	if err != nil {
		return detect.Prediction{}, err
	}
	v := reflect.Judge(observation, text)
	return detect.Prediction{Positive: !v.Critical, Class: reflectionClass(v.Critical), Score: &v.Score, Reasons: []string{v.Reason}}, nil
}

// OverlapDetector returns the baseline: a reflection is critical if it shares a number or a word of at
// least four letters with its observation.
func OverlapDetector() detect.Detector { return overlap{} }

type overlap struct{}

// Name implements detect.Detector.
func (overlap) Name() string { return "overlap" }

// Kind implements detect.Kinded.
func (overlap) Kind() detect.CorpusKind { return detect.Reflections }

// Detect implements detect.Detector.
func (overlap) Detect(_ context.Context, item detect.Item) (detect.Prediction, error) {
	observation, text, err := parseReflection(item)
	if err != nil {
		return detect.Prediction{}, err
	}
	seen := map[string]bool{}
	for _, w := range textfold.Fold(observation) {
		seen[w] = true
	}
	shared := slices.DeleteFunc(textfold.Fold(text), func(w string) bool {
		return !seen[w] || len(w) < 4 && (w[0] < '0' || w[0] > '9')
	})
	p := detect.Prediction{Positive: len(shared) == 0, Class: reflectionClass(len(shared) > 0)}
	if len(shared) > 0 {
		p.Reasons = []string{fmt.Sprintf("both have %q", shared[0])}
	}
	return p, nil
}

func reflectionClass(critical bool) string {
	if critical {
		return detect.Critical
	}
	return detect.Complacent
}

// parseReflection parses an item like the engine does.
func parseReflection(item detect.Item) (observation, text string, err error) {
	documents, err := step.Parse(item.Text)
	if err != nil {
		return "", "", fmt.Errorf("the text is not a reflection of a ReAct agent: %w", err)
	}
	for _, d := range documents {
		if d.Kind == step.Reflect {
			return d.Observation, d.Reflection, nil
		}
	}
	return "", "", errors.New("the text has no document with observation, reflection and decision")
}
