package evaluate

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/rehearse-dev/rehearse/agents/stop"
	stopkind "github.com/rehearse-dev/rehearse/agents/stop/kind"
	"github.com/rehearse-dev/rehearse/agents/stop/train"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/harness/detect"
)

// read is an item of a corpus that is kept in memory, or the error in its place.
type read struct {
	item detect.Item
	err  error
}

// maxFitted limits the items that weights are fitted to, which are all in memory.
const maxFitted = 100_000

// Fit fits weights of the stop guard to the selected items, starting from the shipped weights.
// The plan then scores the guard with weights that were fitted without each item's group, and
// compares it with the shipped weights. progress is called after each fit.
func (p *Plan) Fit(ctx context.Context, workers int, progress func(done, all int)) (*stop.Weights, error) {
	if p.Scoring.Kind != detect.Messages && p.Scoring.Kind != "" {
		return nil, errors.New("fit: weights are fitted to messages, not to reflections")
	}
	var kept []read
	var examples []train.Example
	hash := sha256.New()
	for item, err := range p.Items(ctx) {
		kept = append(kept, read{item, err})
		if err != nil {
			continue
		}
		if len(examples) == maxFitted {
			return nil, fmt.Errorf("fit: there are more than %d items, which is the limit", maxFitted)
		}
		examples = append(examples, stopkind.Example(item))
		line, err := json.Marshal(item)
		if err != nil {
			return nil, fmt.Errorf("fit: item %q: %w", item.ID, err)
		}
		hash.Write(line)
	}
	if err := clock.Err(ctx); err != nil {
		return nil, err
	}
	p.kept = kept
	set, err := train.NewSet(examples, train.Options{Prior: stop.ShippedWeights(), Workers: workers})
	if err != nil {
		return nil, err
	}
	result, err := set.Fit(ctx, progress)
	if err != nil {
		return nil, err
	}
	result.Weights.Date = clock.Real().Now().UTC().Format("2006-01-02")
	result.Weights.Data = fmt.Sprintf("%x", hash.Sum(nil))
	p.Detectors = []detect.Detector{stopkind.UnseenDetector(result), stopkind.Detector(stop.Options{})}
	return result.Weights, nil
}
