package detect_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/rehearse-dev/rehearse/harness/detect"
)

var body = strings.Repeat("The change is in and the tests are green. ", 40)

// hundredThousandth is an item of a large corpus with an answer that is wrong now
// and then, all different.
func hundredThousandth(i int) (detect.Item, detect.Prediction, error) {
	labels := []string{"defers", "clean", "clean", "suggests", "asks"}
	item := detect.Item{
		ID: fmt.Sprintf("item-%06d", i), Text: body, Lang: []string{"en", "fr"}[i%2], Label: labels[i%len(labels)],
		Part: "natural", Repo: fmt.Sprintf("repo-%02d", i%30), Tags: []string{"prose"},
	}
	s := float64(i%9973) / 9973
	p := detect.Prediction{Positive: i%5 == 0 != (i%11 == 0), Class: labels[i%3], Score: &s, Took: time.Duration(1000+i*7) * time.Nanosecond}
	if item.Label == "defers" {
		item.Steps, item.Categories = []string{"run the tests", "deploy the change"}, []string{"next_steps"}
		p.Steps, p.Spans = []string{"run all the tests"}, [][2]int{{10, 40}}
	}
	return item, p, nil
}

type given struct {
	item detect.Item
	p    detect.Prediction
}

func hundredThousand() []given {
	list := make([]given, 100_000)
	for i := range list {
		list[i].item, list[i].p, _ = hundredThousandth(i)
	}
	return list
}

// The floor only counts the four outcomes.
func BenchmarkFloorCount100000(b *testing.B) {
	list := hundredThousand()
	for b.Loop() {
		var cells [4]int
		for i := range list {
			cell := 0
			if list[i].item.Label == "defers" {
				cell = 2
			}
			if list[i].p.Positive {
				cell++
			}
			cells[cell]++
		}
		if cells[0] == 0 {
			b.Fatal("wrong")
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(list)), "ns/item")
}

func BenchmarkAdd100000(b *testing.B) {
	list := hundredThousand()
	b.ReportAllocs()
	var s *detect.Scorer
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for b.Loop() {
		s = detect.NewScorer(detect.ScoreOptions{})
		for i := range list {
			s.Add(list[i].item, list[i].p, nil)
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(after.HeapAlloc)-float64(before.HeapAlloc), "kept-B")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(list)), "ns/item")
	runtime.KeepAlive(s)
}

func BenchmarkResult(b *testing.B) {
	s := detect.NewScorer(detect.ScoreOptions{})
	for i := range 2000 {
		s.Add(hundredThousandth(i))
	}
	for b.Loop() {
		s.Result()
	}
}
