package prompt_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/interview/prompt"
	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/llm/token"
)

// golden compares a text with a file, or writes the file.
func golden(name, got string) {
	GinkgoHelper()
	file := filepath.Join("testdata", name)
	if *update {
		Expect(os.WriteFile(file, []byte(got), 0o644)).To(Succeed())
	}
	want, err := os.ReadFile(file)
	Expect(err).NotTo(HaveOccurred())
	Expect(got).To(Equal(string(want)), "run with -update if that is meant")
}

// calls returns the 24 of an interview.
func calls() []session.Session {
	var all []session.Session
	add := func(step session.Step, p session.Purpose, index int) { all = append(all, owing(step, p, index)) }
	for _, step := range session.Steps() {
		switch step {
		case session.Identity, session.Tone:
		case session.Preamble:
			add(step, session.PurposePreamble, 0)
		case session.Block2A:
			for index := range 3 {
				add(step, session.PurposeAdaptive, index)
			}
		case session.Block10:
			add(step, session.PurposeProfile, 0)
		case session.Matching:
			add(step, session.PurposeMatching, 0)
		default:
			add(step, session.PurposeQuestions, 0)
			add(step, session.PurposeMirror, 0)
		}
	}
	return all
}

// instructions returns the texts of the system messages.
func instructions(r llm.Request) []string {
	var all []string
	for _, m := range r.Messages {
		if m.Role == llm.System {
			all = append(all, m.Content)
		}
	}
	return all
}

// task returns the instructions of a request that describe the task.
func task(l session.Language, now session.Session) string {
	GinkgoHelper()
	texts := instructions(load(l).Build(now, nil, prompt.Limits{}).Request)
	Expect(texts).To(HaveLen(2))
	return texts[1]
}

func render(r llm.Request) string {
	var b strings.Builder
	for _, m := range r.Messages {
		fmt.Fprintf(&b, "=== %s\n%s\n", m.Role, m.Content)
	}
	return b.String()
}

var _ = Describe("Build", func() {
	It("contains only the instructions of the call", Label("I-10"), func() {
		counter := token.NewCounter(token.Options{})
		count := func(text string) int { return counter.Count("gpt-4o", text) }
		var b strings.Builder
		for _, l := range session.Languages() {
			all, most := map[string]bool{}, 0
			for _, now := range calls() {
				texts := instructions(load(l).Build(now, nil, prompt.Limits{}).Request)
				Expect(texts).To(HaveLen(2))
				frame, task := count(texts[0]), count(texts[1])
				fmt.Fprintf(&b, "%s %-9s %-16s %-2d frame %4d task %4d sum %4d\n",
					l, now.Owed.Purpose, now.Step, now.Owed.Index, frame, task, frame+task)
				most = max(most, frame+task)
				for part := range strings.SplitSeq(texts[0]+"\n\n"+texts[1], "\n\n") {
					all[part] = true
				}
			}
			sizes := load(l).Sizes(count)
			Expect(sizes).To(HaveLen(24))
			for _, size := range sizes {
				Expect(size.Frame+size.Task).To(BeNumerically("<=", 900), "%s %s", size.Purpose, size.Step)
				withJob := size.Purpose == session.PurposePreamble || size.Purpose == session.PurposeMatching
				if withJob {
					Expect(size.Job).NotTo(BeZero())
				} else {
					Expect(size.Job).To(BeZero())
				}
				Expect(size.Job).To(BeNumerically("<=", 400))
			}
			whole := 0
			for part := range all {
				whole += count(part)
			}
			fmt.Fprintf(&b, "%s all texts %d, the largest call %d\n", l, whole, most)
			Expect(most).To(BeNumerically("<", whole/4))
		}
		golden("sizes.golden", b.String())
	})

	It("sends one block's rules, and how to build on earlier mirrors only where there are some", Label("I-10"), func() {
		heads := map[session.Language]string{session.French: "# Bloc ", session.English: "# Block "}
		fusions := map[session.Language]string{session.French: "# Fusion", session.English: "# Fusion"}
		for l, head := range heads {
			for _, now := range calls() {
				text := task(l, now)
				blocks := 0
				if p := now.Owed.Purpose; p == session.PurposeQuestions || p == session.PurposeMirror && now.Step != session.Block2B {
					blocks = 1
					Expect(text).To(ContainSubstring(head+strings.TrimLeft(strings.TrimPrefix(string(now.Step), "BLOC_"), "0")), "%s", now.Step)
				}
				Expect(strings.Count(text, head)).To(Equal(blocks), "%s %s", now.Step, now.Owed.Purpose)
				Expect(strings.Contains(text, fusions[l])).To(
					Equal(now.Owed.Purpose == session.PurposeMirror && now.Step != session.Block1), "%s", now.Step)
			}
		}
	})

	It("demands the separator of batches, and of nothing else", func() {
		for _, l := range session.Languages() {
			for _, now := range calls() {
				Expect(strings.Contains(task(l, now), "\n"+"---QUESTION_SEPARATOR---"+"\n")).To(
					Equal(now.Owed.Purpose == session.PurposeQuestions), "%s %s", now.Step, now.Owed.Purpose)
			}
		}
	})

	It("speaks of the medium that was chosen", Label("I-06"), func() {
		now := owing(session.Block2A, session.PurposeAdaptive, 1)
		series := task(session.French, now)
		now.Medium = session.Film
		film := task(session.French, now)
		Expect(series).To(ContainSubstring("trois séries"))
		Expect(film).To(ContainSubstring("trois films"))
		Expect(film).NotTo(ContainSubstring("trois séries"))
	})

	It("is in the candidate's register", func() {
		now := owing(session.Block10, session.PurposeProfile, 0)
		Expect(task(session.French, now)).To(ContainSubstring("🛠️ Tes vraies forces et tes vraies limites"))
		now.Register = session.Formal
		Expect(task(session.French, now)).To(ContainSubstring("🛠️ Vos vraies forces et vos vraies limites"))
		Expect(load(session.French).Build(now, nil, prompt.Limits{}).Request.Messages[0].Content).To(ContainSubstring("Vouvoie"))
		for _, l := range session.Languages() {
			for _, now := range calls() {
				Expect(task(l, now)).NotTo(MatchRegexp(`\[\[|\]\]|\{\w+\}`))
			}
		}
	})

	DescribeTable("puts the frame first, then the history, then the task",
		func(l session.Language, now session.Session, file string) {
			now.Language = l
			history := until(now.Step)
			built := load(l).Build(now, history[max(0, len(history)-4):], prompt.Limits{})
			golden(file, render(built.Request))
		},
		Entry("a mirror", session.French, owing(session.Block3, session.PurposeMirror, 0), "fr-mirror.golden"),
		Entry("questions about works", session.French, owing(session.Block2B, session.PurposeQuestions, 0), "fr-works.golden"),
		Entry("a matching", session.English, owing(session.Matching, session.PurposeMatching, 0), "en-matching.golden"),
	)

	It("gives the works as data, in a user message, where the task speaks of them", func() {
		for _, now := range calls() {
			r := load(session.French).Build(now, nil, prompt.Limits{}).Request
			if now.Step != session.Block2B && (now.Step != session.Block2A || now.Owed.Index != 2) {
				Expect(r.Messages).To(HaveLen(2))
			} else {
				Expect(r.Messages).To(HaveLen(3))
				Expect(r.Messages[1]).To(Equal(llm.Message{Role: llm.User, Content: "[Données relevées dans les réponses]\n" +
					"Médium : séries\nŒuvres : Dark ; Lost ; The Wire\nŒuvre-noyau : Dark"}))
			}
			Expect(strings.Join(instructions(r), " ")).NotTo(ContainSubstring("The Wire"))
		}
		now := owing(session.Block2A, session.PurposeAdaptive, 2)
		now.Medium, now.Works, now.CoreWork = session.Film, []string{"{core}"}, ""
		Expect(load(session.English).Build(now, nil, prompt.Limits{}).Request.Messages[1].Content).To(
			Equal("[Data noted from the answers]\nMedium: films\nWorks: {core}\nCore work: –"))
	})

	It("names works at a length that titles have, and no more than people name", func() {
		now := owing(session.Block2B, session.PurposeMirror, 0)
		now.Works = slices.Repeat([]string{strings.Repeat("é", 500)}, 50)
		r := load(session.French).Build(now, nil, prompt.Limits{}).Request
		Expect(strings.Count(r.Messages[1].Content, "é")).To(BeNumerically("<=", 10*120+10))
		Expect(strings.Count(r.Messages[1].Content, "…")).To(Equal(10))
	})

	It("ends with the findings on the refused text", Label("I-09"), func() {
		now := owing(session.Block3, session.PurposeMirror, 0)
		history := until(session.Block3)
		first := load(session.French).Build(now, history, prompt.Limits{}).Request
		now.Owed.Complaint, now.Owed.Attempt = "section 1 has 34 words,\nat most 30", 2
		again := load(session.French).Build(now, history, prompt.Limits{}).Request
		Expect(again.Messages[:len(first.Messages)]).To(Equal(first.Messages))
		Expect(again.Messages).To(HaveLen(len(first.Messages) + 1))
		last := again.Messages[len(first.Messages)]
		Expect(last.Role).To(Equal(llm.System))
		Expect(last.Content).To(ContainSubstring("Motif : section 1 has 34 words, at most 30\n"))
		Expect(again.Tags).To(HaveKeyWithValue("attempt", "2"))
	})

	It("distinguishes calls by tags", func() {
		now := owing(session.Block2A, session.PurposeAdaptive, 2)
		now.Owed.Attempt = 3
		set := load(session.French)
		r := set.Build(now, nil, prompt.Limits{}).Request
		Expect(r.Purpose).To(Equal("adaptive"))
		Expect(r.Model).To(BeEmpty())
		Expect(r.Tags).To(Equal(map[string]string{
			"step": "BLOC_02A", "block": "2", "part": "A", "index": "2", "candidate": "c1",
			"language": "fr", "attempt": "3", "prompt": set.String(), "job": "sales",
		}))
		r = set.Build(owing(session.Block4, session.PurposeMirror, 0), nil, prompt.Limits{}).Request
		Expect(r.Tags).To(HaveKeyWithValue("part", ""))
		Expect(r.Tags).To(HaveKeyWithValue("attempt", "1"))
		Expect(r.Tags).NotTo(HaveKey("index"))
	})

	It("caps each reply", func() {
		for _, now := range calls() {
			Expect(load(session.English).Build(now, nil, prompt.Limits{}).Request.MaxTokens).To(BeNumerically(">=", 1000))
		}
	})

	It("changes nothing that it is given, and shares nothing with it", func() {
		now, history := owing(session.Block3, session.PurposeMirror, 0), until(session.Block3)
		before, err := json.Marshal([]any{now, history})
		Expect(err).NotTo(HaveOccurred())
		set := load(session.French)
		first := set.Build(now, history, prompt.Limits{Messages: 4})
		first.Request.Messages[0].Content, first.Request.Tags["step"] = "changed", "changed"
		Expect(json.Marshal([]any{now, history})).To(Equal(before))
		second := set.Build(now, history, prompt.Limits{Messages: 4})
		Expect(second.Request.Messages[0].Content).NotTo(Equal("changed"))
		Expect(second.Request.Tags["step"]).To(Equal("BLOC_03"))
		Expect(second.Sent + second.Trimmed).To(Equal(len(history)))
		Expect(second.Request.Messages).To(HaveLen(second.Sent + 2))
	})

	It("reports protected messages that are too large", func() {
		now, history := owing(session.Block3, session.PurposeMirror, 0), until(session.Block3)
		Expect(load(session.French).Build(now, history, prompt.Limits{Tokens: 3}).Over).To(BeTrue())
		Expect(load(session.French).Build(now, history, prompt.Limits{}).Over).To(BeFalse())
	})

	It("copies no text that needs no change, so that a long history costs no more pieces of memory", func() {
		set, now := load(session.French), owing(session.Block1, session.PurposeMirror, 0)
		pieces := func(n int) float64 {
			history := long(n)
			return testing.AllocsPerRun(20, func() { set.Build(now, history, all) })
		}
		Expect(pieces(500)).To(BeNumerically("<=", pieces(10)+10))
	})

	It("makes a request without a task of a session that owes nothing", func() {
		now := owing(session.Block3, session.PurposeMirror, 0)
		now.Owed = nil
		Expect(load(session.French).Build(now, nil, prompt.Limits{}).Request.Purpose).To(BeEmpty())
	})
})
