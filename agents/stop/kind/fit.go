package kind

import (
	"context"
	"fmt"
	"hash/fnv"

	"github.com/rehearse-dev/rehearse/agents/stop"
	"github.com/rehearse-dev/rehearse/agents/stop/train"
	"github.com/rehearse-dev/rehearse/harness/detect"
)

// Example returns a labelled message as an example to fit weights to. A doubtful label weighs
// less. The items without a repository are divided into ten groups.
func Example(item detect.Item) train.Example {
	weight := 1.0
	switch item.Confidence {
	case "medium":
		weight = 0.6
	case "low":
		weight = 0.3
	}
	return train.Example{
		Message: item.Text, Request: item.Request, Class: stop.Class(item.Label), Group: group(item),
		Weight: weight, Clear: weight == 1,
	}
}

// parts is the number of groups of the items without a repository.
const parts = 10

// group returns the repository of an item, or the part that its ID falls into.
func group(item detect.Item) string {
	if item.Repo != "" {
		return item.Repo
	}
	h := fnv.New32a()
	h.Write([]byte(item.ID))
	return fmt.Sprintf("part %d", h.Sum32()%parts)
}

// UnseenDetector returns the stop guard with fitted weights: each item is judged by those that
// were fitted without its group.
func UnseenDetector(r train.Result) detect.Detector {
	return unseen{unseen: r.Unseen}
}

type unseen struct {
	guard
	unseen map[string]*stop.Weights
}

// Name implements detect.Detector.
func (unseen) Name() string { return "guard:fitted" }

// Detect implements detect.Detector.
func (u unseen) Detect(ctx context.Context, item detect.Item) (detect.Prediction, error) {
	u.options.Weights = u.unseen[group(item)]
	return u.guard.Detect(ctx, item)
}
