package detect_test

import (
	"context"
	"fmt"
	"iter"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/detect"
)

func TestDetect(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "detect")
}

// table is a detector that is a function.
type table struct {
	name string
	fn   func(context.Context, detect.Item) (detect.Prediction, error)
}

func (t table) Name() string { return t.name }

func (t table) Detect(ctx context.Context, item detect.Item) (detect.Prediction, error) {
	return t.fn(ctx, item)
}

// by names a detector that is a function.
func by(fn func(context.Context, detect.Item) (detect.Prediction, error)) detect.Detector {
	return table{"table", fn}
}

// alone is a detector that takes a few items at once.
type alone struct {
	detect.Detector
	atOnce int
}

func (a alone) AtOnce() int { return a.atOnce }

// numbered yields n items with the ids 0, 1, … and calls read for each.
func numbered(n int, read func(int)) iter.Seq2[detect.Item, error] {
	return func(yield func(detect.Item, error) bool) {
		for i := range n {
			if read != nil {
				read(i)
			}
			if !yield(detect.Item{ID: fmt.Sprint(i), Text: "Next steps: test.", Label: detect.Defers}, nil) {
				return
			}
		}
	}
}

// ask asks a detector about one text.
func ask(ctx context.Context, d detect.Detector, text string) (detect.Prediction, error) {
	return d.Detect(ctx, detect.Item{ID: "a", Text: text, Request: "Ask.", Lang: "en", Label: "clean"})
}
