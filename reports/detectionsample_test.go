package reports_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/rehearse-dev/rehearse/harness/detect"
	"github.com/rehearse-dev/rehearse/reports"
)

// judged is an item with what two detectors say of it.
type judged struct {
	item detect.Item
	a, b detect.Prediction
	err  error // of detector a
}

// answers are twelve items, of which five defer. The first detector finds four of
// them and one too many, and fails on the last item; the second finds two, and
// only says yes or no.
func answers() []judged {
	const text = "The parser is done. Next I will write the tests."
	var list []judged
	add := func(label, lang string, score float64, b bool) *judged {
		n := len(list)
		j := judged{
			item: detect.Item{
				ID: fmt.Sprintf("m%02d", n+1), Text: text, Lang: lang, Label: label, Confidence: []string{"high", "medium"}[n%2],
				Part: "natural", Repo: fmt.Sprint("team/project-", n%3), Tags: []string{"prose"},
			},
			a: detect.Prediction{
				Positive: score >= 0.5, Score: ptr(score), Class: "clean", Took: time.Duration(n+1) * 10 * time.Microsecond,
				Reasons: []string{"nothing is announced"},
			},
			b: detect.Prediction{Positive: b},
		}
		if j.a.Positive {
			j.a.Class, j.a.Reasons = "defers", []string{"announces work in the first person"}
			j.a.Spans, j.a.Steps, j.a.Categories = [][2]int{{25, 47}}, []string{"write the tests"}, []string{"future_actions"}
		}
		if label == "defers" {
			j.item.Steps, j.item.Categories = []string{"I will write the tests"}, []string{"future_actions"}
		}
		list = append(list, j)
		return &list[n]
	}
	for i, s := range []float64{0.97, 0.9, 0.81, 0.52} {
		add("defers", []string{"en", "fr"}[i%2], s, i < 2)
	}
	add("defers", "en", 0.31, false).item.Note = "the user asked for it before"
	add("suggests", "en", 0.66, true)
	add("asks", "fr", 0.4, false)
	for i := range 4 {
		add("clean", []string{"en", "fr"}[i%2], float64(i)/20, false)
	}
	add("clean", "fr", 0, false).err = errors.New("endpoint: 503 Service Unavailable")
	return list
}

// sampleDetection is the report of answers.
func sampleDetection() reports.Detection {
	return detectionOf(answers(), "guard:balanced", "naive")
}

func detectionOf(list []judged, a, b string) reports.Detection {
	sa, sb := detect.NewScorer(detect.ScoreOptions{Detector: a}), detect.NewScorer(detect.ScoreOptions{Detector: b})
	pair := detect.NewPair(b, a, detect.ScoreOptions{})
	for _, j := range list {
		sa.Add(j.item, j.a, j.err)
		sb.Add(j.item, j.b, nil)
		pair.Add(j.item, j.b, j.a, nil, j.err)
	}
	return reports.Detection{
		Tool: "rehearse 0.1.0", Corpora: []reports.DetectionCorpus{{Name: "stops.jsonl", Items: len(list), Bad: 1, Digest: "sha256:0123"}},
		Problems:  []string{"stops.jsonl:7: the item has no text"},
		Detectors: []detect.Evaluation{sa.Result(), sb.Result()}, Comparisons: []detect.Comparison{pair.Result()},
	}
}

// evilText breaks a terminal, Markdown or HTML, if it can.
const evilText = "\x1b[31m\x00\u202e|`a``b` **x** <img src=x onerror=alert(1)> @team #1 --> \xff\r\n\n# head\n| a | b |\n|---|---|\n"

// hostileDetection is a report whose every foreign text is evilText.
func hostileDetection() reports.Detection {
	list := answers()
	for i := range list {
		j := &list[i]
		j.item.ID += evilText
		j.item.Text += evilText
		j.item.Lang, j.item.Part, j.item.Repo, j.item.Confidence, j.item.Note = evilText, evilText, evilText, evilText, evilText
		j.item.Tags, j.item.Categories = []string{evilText}, []string{evilText}
		if j.item.Steps != nil {
			j.item.Steps = []string{evilText}
		}
		j.a.Reasons, j.a.Steps, j.a.Categories, j.a.Spans = []string{evilText}, []string{evilText}, []string{evilText}, [][2]int{{3, len(j.item.Text)}}
		if j.err != nil {
			j.err = errors.New(evilText)
		}
	}
	r := detectionOf(list, evilText, evilText)
	r.Tool, r.Problems = evilText, []string{evilText}
	r.Corpora[0].Name, r.Corpora[0].Digest = evilText, evilText
	return r
}
