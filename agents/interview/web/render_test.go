package web

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/interview"
	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/llm"
)

// sample returns an interview whose second message is shown.
func sample(change func(*interviewPage)) interviewPage {
	p := interviewPage{
		Session: session.Session{
			ID: "abc", Language: session.English, Step: session.Block1, Phase: session.Asking, Shown: 2, Messages: 2,
			Queue: &session.Queue{Step: session.Block1, Questions: []string{"a", "b", "c"}, Cursor: 1},
		},
		Messages: []session.Message{
			{Seq: 1, Role: llm.User, Kind: session.KindQuestion, Step: session.Block1, Text: "mine <b>"},
			{Seq: 2, Role: llm.Assistant, Kind: session.KindQuestion, Step: session.Block1, Question: 1, Text: "What now?\nA. one\nB. two"},
		},
		Submission: "sub-1",
	}
	if change != nil {
		change(&p)
	}
	return p
}

func html(p page) string {
	GinkgoHelper()
	out, err := p.render()
	Expect(err).NotTo(HaveOccurred())
	return string(out)
}

var _ = Describe("the page of an interview", func() {
	DescribeTable("offers only the possible actions",
		func(change func(*interviewPage), want []string, not []string) {
			out := html(sample(change))
			for _, text := range want {
				Expect(out).To(ContainSubstring(text))
			}
			for _, text := range not {
				Expect(out).NotTo(ContainSubstring(text))
			}
		},
		Entry("a question with choices", nil,
			[]string{`name="choice" value="A. one"`, `name="message"`, `value="m2"`, `value="sub-1"`, "Block 1 of 9 · Question 2 of 3"},
			[]string{"required", `value="GO"`, `value="RETRY"`, `<ul class="choices">`}),
		Entry("an open question", func(p *interviewPage) { p.Messages[1].Text = "What now?" },
			[]string{`name="message"`, "required"}, []string{`name="choice"`}),
		Entry("a mirror", func(p *interviewPage) {
			p.Session.Phase, p.Messages[1].Kind = session.Reflecting, session.KindMirror
		}, []string{`name="message"`, `value="GO" formnovalidate`, "Nothing to add"}, []string{`name="choice"`}),
		Entry("a message to go on from", func(p *interviewPage) { p.Session.Phase = session.Waiting },
			[]string{`value="GO"`, "Ready"}, []string{`name="message"`}),
		Entry("the portrait", func(p *interviewPage) {
			p.Session.Phase, p.Session.Step, p.Session.Queue = session.Waiting, session.Block10, nil
			p.Messages[1].Step, p.Messages[1].Kind = session.Block10, session.KindOther
		}, []string{"See the match", "Your portrait"}, []string{`name="message"`}),
		Entry("a call that failed", func(p *interviewPage) {
			p.Session.Phase, p.Session.Owed = session.Owing, &session.Owed{Failed: "backend_failed"}
		}, []string{`value="RETRY"`, "Try again", "Your answer is saved, but"}, []string{`name="message"`, "data-auto"}),
		Entry("a call under way", func(p *interviewPage) {
			p.Session.Phase, p.Session.Owed, p.Working = session.Owing, &session.Owed{InFlight: 3, Failed: "backend_failed"}, true
		}, []string{`data-mode="thinking"`, `http-equiv="refresh"`}, []string{"<form", "data-auto"}),
		Entry("a call that died", func(p *interviewPage) {
			p.Session.Phase, p.Session.Owed = session.Owing, &session.Owed{InFlight: 3}
		}, []string{`value="RETRY"`, "data-auto", "I have not written the next message yet"}, []string{`http-equiv="refresh"`}),
		Entry("the end", func(p *interviewPage) {
			p.Session.Phase, p.Session.Step = session.Finished, session.Matching
			p.Messages[0] = session.Message{Seq: 1, Role: llm.Assistant, Kind: session.KindOther, Step: session.Block10, Text: "🔥 Motion\nTrust."}
			p.Messages[1].Kind, p.Messages[1].Text = session.KindMatching, "🔵 CONDITIONALLY ALIGNED\n\nYes, but."
		}, []string{`class="verdict partly"`, "<h3><span aria-hidden=\"true\">🔥</span> Motion</h3>", "Interview complete", `value="10"`}, []string{"<form"}),
		Entry("an error, with the written text", func(p *interviewPage) {
			p.Problem, p.Typed, p.Choice = "answer_too_long", "so <much>", "B. two"
		}, []string{"too long", "so &lt;much&gt;</textarea>", `value="B. two" checked`}, nil),
		Entry("an error that the form cannot make", func(p *interviewPage) { p.Problem = "invalid" },
			[]string{"Something went wrong on our side"}, []string{"identifier"}),
		Entry("text for a question that was answered already", func(p *interviewPage) { p.Unsent = "lost <words>" },
			[]string{"already had an answer", "lost &lt;words&gt;"}, nil),
	)

	It("shows the messages in order, as text", func() {
		Expect(html(sample(nil))).To(ContainSubstring(`<p class="own">mine &lt;b&gt;</p>`))
	})

	It("fills its progress from the first block to the last", func() {
		last := -1.0
		for _, step := range session.Steps() {
			for cursor := range 3 {
				p := sample(func(p *interviewPage) {
					p.Session.Step, p.Session.Queue.Cursor = step, cursor
					if step.Block() == 0 || step.Block() == 10 {
						p.Session.Queue = nil
					}
				})
				found := regexp.MustCompile(`<progress max="10" value="([0-9.]+)"`).FindStringSubmatch(html(p))
				Expect(found).To(HaveLen(2))
				value, err := strconv.ParseFloat(found[1], 64)
				Expect(err).NotTo(HaveOccurred())
				if step != session.Block2B { // which begins within the block that 2A ended in
					Expect(value).To(BeNumerically(">=", last))
				}
				Expect(value).To(BeNumerically("<=", 10))
				last = value
			}
		}
	})
})

var _ = Describe("every page", func() {
	It("contains no inline scripts and styles, which the policy would block", func() {
		for _, p := range []page{
			sample(nil), startPage{Language: session.French, Offered: session.Languages()}, errorPage{Language: session.English, Problem: "not_found"},
		} {
			out := html(p)
			Expect(out).NotTo(MatchRegexp(`(?i)\son[a-z]+=|\sstyle=|<style|javascript:`))
			for _, script := range regexp.MustCompile(`<script[^>]*>[^<]`).FindAllString(out, -1) {
				Fail("a script within the page: " + script)
			}
			Expect(out).To(MatchRegexp(`<html lang="(fr|en)">`))
			Expect(strings.Count(out, "<h1")).To(Equal(1))
		}
	})

	It("speaks French where it does not know the language", func() {
		Expect(html(startPage{Language: "de"})).To(And(ContainSubstring(`lang="fr"`), ContainSubstring("Commencer")))
	})
})

var _ = Describe("the texts", func() {
	It("are complete in each language", func() {
		Expect(catalog).To(HaveLen(len(session.Languages())))
		for l, w := range catalog {
			for _, v := range []reflect.Value{reflect.ValueOf(w), reflect.ValueOf(laterCatalog[l])} {
				for i := range v.NumField() {
					Expect(v.Field(i).Len()).To(BeNumerically(">", 0), "%s in %s", v.Type().Field(i).Name, l)
				}
			}
			Expect(privacyText(l, Options{})).NotTo(ContainSubstring("{"))
		}
	})

	It("address the candidate in one form at a time, and request nothing in the infinitive", func() {
		forms := map[session.Register]*regexp.Regexp{
			session.Informal: regexp.MustCompile(`(?i)(?:^|[^\p{L}-])(vous|votre|vos|\p{L}+ez(?:-\p{L}+)?)(?:[^\p{L}]|$)`),
			session.Formal:   regexp.MustCompile(`(?i)(?:^|[^\p{L}])(tu|te|toi|ton|ta|tes|t'\p{L}+)(?:[^\p{L}]|$)`),
		}
		infinitive := regexp.MustCompile(`(?:[.:;] |, ou |, puis )(?:l[ae] )?\p{L}{3,}(?:er|ir|re) (?:et|dans|sans|l'|la|le|une?|cette)`)
		for r, other := range forms {
			interviewed, later := formsOf(catalog).in(session.French, r), laterIn(session.French, r)
			for _, name := range []string{"Lost", "Lead", "Promise", "Candidate", "CandidateHint"} { // shown before the choice
				reflect.ValueOf(&interviewed).Elem().FieldByName(name).SetString("")
			}
			for _, code := range []string{"too_many_starts", "too_many_tries", "bad_link", "expired_link"} {
				delete(interviewed.Problems, code)
			}
			later.ResumeLead, later.IdentifierHint = "", ""
			for _, texts := range []any{interviewed, later} {
				data, err := json.Marshal(texts)
				Expect(err).NotTo(HaveOccurred())
				Expect(string(data)).NotTo(ContainSubstring("[["))
				Expect(other.FindAllString(string(data), -1)).To(BeEmpty())
				Expect(infinitive.FindAllString(string(data), -1)).To(BeEmpty())
			}
		}
	})

	It("have a text of their own for every code that a person can meet", func() {
		for l, w := range catalog {
			problems := reflect.ValueOf(w).FieldByName("Problems").Interface().(map[string]string)
			for _, code := range interview.Codes() {
				switch code {
				case interview.CodeUnknownEvent: // the form does not send it
					continue
				default:
				}
				Expect(problems).To(HaveKey(string(code)), "in %s", l)
			}
		}
	})
})

var _ = Describe("the colours", func() {
	// Ratios of WCAG 2.2: 4.5 for text (1.4.3), 3 for what can be used (1.4.11).
	pairs := []struct {
		front, back string
		least       float64
	}{
		{"ink", "page", 4.5},
		{"ink", "card", 4.5},
		{"ink", "tinted", 4.5},
		{"soft", "page", 4.5},
		{"soft", "card", 4.5},
		{"accent", "page", 4.5},
		{"accent", "card", 4.5},
		{"accent", "tinted", 4.5},
		{"on-accent", "accent", 4.5},
		{"warn", "warned", 4.5},
		{"warn", "page", 4.5},
		{"ink", "warned", 4.5},
		{"edge", "page", 3},
		{"edge", "card", 3},
	}
	own, err := assetFiles.ReadFile("assets/style.css")
	if err != nil {
		panic(err)
	}
	schemes := regexp.MustCompile(`(?s):root \{(.*?)\}`).FindAllStringSubmatch(string(own), -1)
	for i, scheme := range []string{"light", "dark"} {
		It("stand out enough from each other in the "+scheme+" scheme", func() {
			colours := map[string]float64{}
			for _, c := range regexp.MustCompile(`--([a-z-]+): #([0-9a-f]{6});`).FindAllStringSubmatch(schemes[i][1], -1) {
				colours[c[1]] = luminance(c[2])
			}
			for _, p := range pairs {
				Expect(colours).To(And(HaveKey(p.front), HaveKey(p.back)))
				a, b := colours[p.front]+.05, colours[p.back]+.05
				Expect(max(a, b)/min(a, b)).To(BeNumerically(">=", p.least), "%s on %s", p.front, p.back)
			}
		})
	}
})

// luminance returns the relative luminance of a colour, as WCAG 2.2 defines it.
func luminance(hex string) float64 {
	sum := 0.0
	for i, weight := range []float64{.2126, .7152, .0722} {
		n, err := strconv.ParseUint(hex[2*i:2*i+2], 16, 8)
		if err != nil {
			panic(err)
		}
		c := float64(n) / 255
		if c <= .04045 {
			c /= 12.92
		} else {
			c = math.Pow((c+.055)/1.055, 2.4)
		}
		sum += weight * c
	}
	return sum
}

var _ = Describe("the assets", func() {
	It("are there under the addresses that the pages name, for ever", func() {
		out := html(startPage{Offered: session.Languages()})
		addresses := regexp.MustCompile(`(?:href|src)="(/assets/[^"]+)"`).FindAllStringSubmatch(out, -1)
		Expect(addresses).To(HaveLen(3))
		for _, a := range addresses {
			w := httptest.NewRecorder()
			assetHandler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, a[1], nil))
			Expect(w.Code).To(Equal(http.StatusOK), a[1])
			Expect(w.Header().Get("Cache-Control")).To(ContainSubstring("immutable"))
		}
	})

	DescribeTable("are nothing else",
		func(path string) {
			w := httptest.NewRecorder()
			assetHandler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, fmt.Sprintf(path, assetVersion()), nil))
			Expect(w.Code).To(Equal(http.StatusNotFound))
			Expect(w.Header().Get("Cache-Control")).NotTo(ContainSubstring("immutable"))
		},
		Entry("/assets/%s", "/assets/%s"), Entry("/assets/%s/", "/assets/%s/"), Entry("/assets/%s/nothing.js", "/assets/%s/nothing.js"), Entry("/assets/%sx/app.js", "/assets/%sx/app.js"), Entry("/assets/%s/../page.go", "/assets/%s/../page.go"),
	)
})
