package detect_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"unicode/utf8"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/detect"
)

var errFailed = errors.New("failed")

func mistakeIDs(list []detect.Mistake) string {
	var out []string
	for _, m := range list {
		out = append(out, m.ID)
	}
	return strings.Join(out, " ")
}

var _ = Describe("the errors of a detector", func() {
	It("are listed with what a person needs to learn from them", func() {
		text := strings.Repeat("Before. ", 100) + "Next I will deploy." + strings.Repeat(" After.", 100)
		at := strings.Index(text, "Next")
		r := scored(quick(), []answer{{
			item: detect.Item{
				ID: "m1", Text: text, Label: "suggests", Confidence: "medium", Lang: "en", Part: "natural", Repo: "r",
				Note: "an offer", Steps: []string{"deploy"},
			},
			p: detect.Prediction{
				Positive: true, Class: "defers", Score: ptr(0.8), Spans: [][2]int{{at, at + 19}, {-1, 5}},
				Categories: []string{"next_steps"}, Steps: []string{"deploy"}, Reasons: []string{"first person"},
			},
		}})
		Expect(r.FalseNegatives).To(BeEmpty())
		Expect(r.FalsePositives).To(HaveLen(1))
		m := r.FalsePositives[0]
		Expect(m.Excerpt).To(And(HavePrefix("…"), HaveSuffix("…"), ContainSubstring("Before. Next I will deploy. After."), HaveLen(503+3)))
		m.Excerpt = ""
		Expect(m).To(Equal(detect.Mistake{
			ID: "m1", Label: "suggests", Confidence: "medium", Lang: "en", Part: "natural", Repo: "r", Note: "an offer",
			Class: "defers", Score: ptr(0.8), Evidence: []string{"Next I will deploy."},
			Categories: []string{"next_steps"}, Steps: []string{"deploy"}, Reasons: []string{"first person"},
		}))
	})

	It("show the missed step, or else the end of the message", func() {
		filler := strings.Repeat("Été. ", 300)
		r := scored(quick(), []answer{
			{item: detect.Item{ID: "a", Label: "defers", Text: "Start. Run it. " + filler, Steps: []string{"Run it"}}},
			{item: detect.Item{ID: "b", Label: "defers", Text: filler + "The end."}},
		})
		Expect(mistakeIDs(r.FalseNegatives)).To(Equal("a b"))
		Expect(r.FalseNegatives[0].Excerpt).To(HavePrefix("Start. Run it."))
		Expect(r.FalseNegatives[0].Missed).To(Equal([]string{"Run it"}))
		Expect(r.FalseNegatives[1].Excerpt).To(And(HavePrefix("…"), HaveSuffix("The end.")))
		Expect(len(r.FalseNegatives[1].Excerpt)).To(BeNumerically("~", 500, 5))
		Expect(utf8.ValidString(r.FalseNegatives[1].Excerpt)).To(BeTrue())
	})

	It("begin with confident labels and confident predictions, in any order of items", func() {
		wrong := func(id, confidence string, s *float64) answer {
			return answer{item: detect.Item{ID: id, Label: "clean", Confidence: confidence}, p: detect.Prediction{Positive: true, Score: s}}
		}
		list := []answer{
			wrong("low", "low", ptr(0.99)), wrong("mild", "high", ptr(0.6)), wrong("sure", "", ptr(0.9)),
			wrong("odd", "odd", ptr(1)), wrong("none", "high", nil), wrong("twin", "high", ptr(0.6)), wrong("medium", "medium", ptr(0.7)),
		}
		o := quick()
		o.MaxErrors = 5
		r := scored(o, list)
		Expect(mistakeIDs(r.FalsePositives)).To(Equal("sure mild twin none medium"))
		Expect(r.Overall.FP).To(Equal(7), "all are counted")
		o.MaxErrors = -1
		Expect(scored(o, list).FalsePositives).To(BeEmpty())
	})

	It("are 50 of each kind by default", func() {
		r := scored(detect.ScoreOptions{Resamples: 1}, append(predicted(60, "clean", true), predicted(70, "defers", false)...))
		Expect(r.FalsePositives).To(HaveLen(50))
		Expect(r.FalseNegatives).To(HaveLen(50))
	})

	It("are cut between characters", func() {
		for shift := range 4 {
			text := strings.Repeat("x", shift) + strings.Repeat("€", 1000)
			at := shift + 3*500
			r := scored(quick(), []answer{{
				item: detect.Item{ID: text, Text: text, Label: "clean"},
				p:    detect.Prediction{Positive: true, Spans: [][2]int{{at, at + 3}}},
			}})
			m := r.FalsePositives[0]
			for _, cut := range []string{m.ID, m.Excerpt} {
				Expect(cut).To(HaveSuffix("€…"))
				Expect(cut).NotTo(ContainSubstring("\uFFFD"))
			}
			Expect(m.Excerpt).To(HavePrefix("…€"))
		}
	})

	It("have short texts of valid UTF-8", func() {
		huge := strings.Repeat("é\xff", 1<<20)
		many := make([]string, 1000)
		for i := range many {
			many[i] = huge
		}
		r := scored(quick(), []answer{{
			item: detect.Item{ID: huge, Text: huge, Label: "clean", Note: huge, Repo: huge, Lang: huge, Part: huge, Confidence: huge},
			p: detect.Prediction{
				Positive: true, Reasons: many, Steps: many, Categories: many, Class: huge,
				Spans: [][2]int{{0, len(huge)}, {1, len(huge) + 1}},
			},
		}, {item: detect.Item{ID: huge, Label: "clean"}, err: errors.New(huge)}})
		text := fmt.Sprintf("%+v", r)
		Expect(len(text)).To(BeNumerically("<", 200_000))
		Expect(utf8.ValidString(text)).To(BeTrue())
		Expect(r.FalsePositives[0].Evidence).To(HaveLen(1))
	})

	It("take no more memory for 100,000 items than for 2,000", func() {
		heapAfter := func(n int) uint64 {
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			s := detect.NewScorer(quick())
			for i := range n {
				s.Add(hundredThousandth(i))
			}
			runtime.GC()
			runtime.ReadMemStats(&after)
			Expect(s.Result().Items).To(Equal(n))
			return after.HeapAlloc - min(before.HeapAlloc, after.HeapAlloc)
		}
		Expect(heapAfter(100_000)).To(BeNumerically("<", heapAfter(2000)+2<<20))
	})
})
