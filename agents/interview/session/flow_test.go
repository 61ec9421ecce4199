package session_test

import (
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/llm"
)

var _ = Describe("An interview from start to end", func() {
	It("takes all steps in their order", Label("I-02"), func() {
		w := begin(3).until(over)
		var steps []session.Step
		for _, m := range w.moves {
			steps = append(steps, m.Session.Step)
		}
		Expect(slices.Compact(steps)).To(Equal(session.Steps()))
	})

	It("owes the 24 calls of its steps, in order", Label("I-13"), func() {
		type call struct {
			step    session.Step
			purpose session.Purpose
			index   int
		}
		var got []call
		w := begin(3)
		w.until(func(w *walk) bool {
			if w.Phase == session.Owing {
				got = append(got, call{w.Step, w.Owed.Purpose, w.Owed.Index})
			}
			return over(w)
		})
		Expect(got).To(Equal([]call{
			{session.Preamble, session.PurposePreamble, 0},
			{session.Block1, session.PurposeQuestions, 0},
			{session.Block1, session.PurposeMirror, 0},
			{session.Block2A, session.PurposeAdaptive, 0},
			{session.Block2A, session.PurposeAdaptive, 1},
			{session.Block2A, session.PurposeAdaptive, 2},
			{session.Block2B, session.PurposeQuestions, 0},
			{session.Block2B, session.PurposeMirror, 0},
			{session.Block3, session.PurposeQuestions, 0},
			{session.Block3, session.PurposeMirror, 0},
			{session.Block4, session.PurposeQuestions, 0},
			{session.Block4, session.PurposeMirror, 0},
			{session.Block5, session.PurposeQuestions, 0},
			{session.Block5, session.PurposeMirror, 0},
			{session.Block6, session.PurposeQuestions, 0},
			{session.Block6, session.PurposeMirror, 0},
			{session.Block7, session.PurposeQuestions, 0},
			{session.Block7, session.PurposeMirror, 0},
			{session.Block8, session.PurposeQuestions, 0},
			{session.Block8, session.PurposeMirror, 0},
			{session.Block9, session.PurposeQuestions, 0},
			{session.Block9, session.PurposeMirror, 0},
			{session.Block10, session.PurposeProfile, 0},
			{session.Matching, session.PurposeMatching, 0},
		}))
	})

	It("shows each kind of message at its steps", Label("I-05"), func() {
		w := begin(2).until(over)
		stepsOf := map[session.Kind][]session.Step{}
		for _, m := range w.moves {
			if m.Say != nil {
				Expect(m.Say.Step).To(Equal(m.Session.Step))
				if m.Say.Kind != session.KindQuestion {
					Expect(m.Say.Question).To(Equal(session.NoQuestion))
				}
				stepsOf[m.Say.Kind] = append(stepsOf[m.Say.Kind], m.Say.Step)
			}
		}
		blocks := session.Steps()[3:13]
		Expect(slices.Compact(stepsOf[session.KindQuestion])).To(Equal(blocks))
		Expect(stepsOf[session.KindMirror]).To(Equal(slices.DeleteFunc(blocks, func(s session.Step) bool { return s == session.Block2A })))
		Expect(stepsOf[session.KindTone]).To(Equal([]session.Step{session.Tone}))
		Expect(stepsOf[session.KindPreamble]).To(Equal([]session.Step{session.Preamble}))
		Expect(stepsOf[session.KindOther]).To(Equal([]session.Step{session.Identity, session.Block10}))
		Expect(stepsOf[session.KindMatching]).To(Equal([]session.Step{session.Matching}))
	})
})

var _ = Describe("A new interview", func() {
	It("begins at the beginning, whatever it is made from", func() {
		m := session.Start(to(session.Block4, session.Asking).Session)
		Expect(m.Session).To(And(HaveField("Step", session.Identity), HaveField("Queue", BeNil()), HaveField("Owed", BeNil())))
		Expect(m.Fixed).To(Equal(session.Fixed("identity")))
	})
})

var _ = Describe("A step with a batch of questions", func() {
	It("serves them one by one and owes nothing before the last is answered", Label("I-04"), func() {
		w := to(session.Block4, session.Asking)
		for i := range 3 {
			Expect(w.last().Say).To(HaveValue(Equal(session.Message{
				Role: llm.Assistant, Kind: session.KindQuestion, Step: session.Block4, Question: i,
				Text: w.Queue.Questions[i], Call: map[bool]int{true: len(w.calls)}[i == 0],
			})))
			Expect(w.Owed).To(BeNil())
			m, err := w.move(session.Answered{Text: "because"})
			Expect(err).NotTo(HaveOccurred())
			Expect(m.Answer).To(HaveValue(Equal(session.Answer{Step: session.Block4, Index: i, Text: "because", At: noon})))
			Expect(m.Heard).To(HaveValue(Equal(session.Message{
				Role: llm.User, Kind: session.KindQuestion, Step: session.Block4, Question: i, Text: "because",
			})))
			Expect(m.Queue.Cursor).To(Equal(i + 1))
			Expect(m.Queue.Complete).To(Equal(i == 2))
		}
		Expect(w.Owed).To(HaveValue(Equal(session.Owed{Purpose: session.PurposeMirror})))
		Expect(w.Queue.Completed).To(Equal(noon))
	})

	It("stores the comment on a mirror separately from the answers", func() {
		w := to(session.Block3, session.Reflecting)
		m, err := w.move(session.Answered{Text: "not quite"})
		Expect(err).NotTo(HaveOccurred())
		Expect(m.Answer).To(HaveValue(Equal(session.Answer{
			Step: session.Block3, Index: session.Reflection, Text: "not quite", At: noon,
		})))
		Expect(m.Heard.Kind).To(Equal(session.KindMirror))
		Expect(m.Heard.Question).To(Equal(session.NoQuestion))
		Expect(w.Step).To(Equal(session.Block4))
		Expect(w.Queue).To(BeNil())
	})

	It("continues without a comment on the mirror", func() {
		w := to(session.Block3, session.Reflecting)
		m, err := w.move(session.Went{})
		Expect(err).NotTo(HaveOccurred())
		Expect(m.Answer).To(BeNil())
		Expect(m.Heard).To(BeNil())
		Expect(w.Step).To(Equal(session.Block4))
		Expect(w.Owed.Purpose).To(Equal(session.PurposeQuestions))
	})
})

var _ = Describe("An answer without a choice", func() {
	It("is not stored as an answer, and the question for the tone is repeated", func() {
		w := to(session.Tone, session.Asking)
		m, err := w.move(session.Answered{Text: "as you like"})
		Expect(err).NotTo(HaveOccurred())
		Expect(m.Answer).To(BeNil())
		Expect(m.Heard).To(HaveField("Kind", session.KindTone))
		Expect(m.Fixed).To(Equal(session.Fixed("tone_again")))
		Expect(w.calls).To(BeEmpty())
		w.until(over)
		Expect(w.calls).To(HaveLen(24))
	})

	It("is not stored as an answer, and the question for the medium is repeated without a call", Label("I-06"), func() {
		w := to(session.Block2A, session.Asking)
		calls := len(w.calls)
		m, err := w.move(session.Answered{Text: "I read books"})
		Expect(err).NotTo(HaveOccurred())
		Expect(m.Answer).To(BeNil())
		Expect(m.Queue).To(BeNil())
		Expect(m.Heard).To(HaveField("Question", 0))
		Expect(m.Fixed).To(Equal(session.Fixed("medium_again")))
		Expect(m.Say).To(HaveValue(Equal(session.Message{
			Role: llm.Assistant, Kind: session.KindQuestion, Step: session.Block2A, Text: w.Queue.Questions[0],
		})))
		Expect(w.calls).To(HaveLen(calls))
		Expect(w.Medium).To(BeEmpty())
		w.until(over)
		Expect(w.calls).To(HaveLen(24))
	})
})

// neithers leave a question open.
var neithers = []string{
	"Ni l'un ni l'autre, je lis des romans", "Je ne regarde rien", "Je joue à des jeux vidéo", "peu importe", "les deux autant",
	"neither, I play video games", "both", "I don't mind",
}

var _ = DescribeTable("A question that is left open twice", Label("I-06"), func(at session.Step, check func(session.Session)) {
	for _, answer := range neithers {
		w := to(at, session.Asking)
		_, err := w.move(session.Answered{Text: answer})
		Expect(err).NotTo(HaveOccurred())
		Expect(w.Phase).To(Equal(session.Asking), answer)
		m, err := w.move(session.Answered{Text: answer})
		Expect(err).NotTo(HaveOccurred())
		Expect(m.Answer).To(HaveField("Text", answer), "it is kept as the answer")
		Expect(w.Phase).To(Equal(session.Owing), answer)
		check(w.Session)
		Expect(w.Unread).To(BeZero())
		w.until(over)
	}
},
	Entry("takes the default of the tone", session.Tone, func(s session.Session) { Expect(s.Register).To(Equal(session.Formal)) }),
	Entry("takes the default of the medium", session.Block2A, func(s session.Session) { Expect(s.Medium).To(Equal(session.Film)) }),
)

var _ = Describe("Block 2", func() {
	It("learns the medium, the works and the one that matters most, each before the next call", Label("I-06"), func() {
		w := to(session.Block2A, session.Asking)
		for _, answer := range []string{"Je préfère le cinéma", "Alien, Heat et Drive", "Heat"} {
			_, err := w.move(session.Answered{Text: answer})
			Expect(err).NotTo(HaveOccurred())
			Expect(w.Phase).To(Equal(session.Owing))
			if w.Step == session.Block2A {
				_, err = w.move(w.reply())
				Expect(err).NotTo(HaveOccurred())
			}
		}
		Expect(w.Medium).To(Equal(session.Film))
		Expect(w.Works).To(Equal([]string{"Alien", "Heat", "Drive"}))
		Expect(w.CoreWork).To(Equal("Heat"))
		Expect(w.Step).To(Equal(session.Block2B))
		Expect(w.last().Queue).To(HaveField("Complete", true))
		Expect(w.last().Queue.Step).To(Equal(session.Block2A))
	})

	It("keeps the answers of its parts apart", Label("I-03"), func() {
		w := begin(3).until(over)
		texts := map[session.Step]int{}
		for _, a := range w.answers {
			if a.Index >= 0 {
				texts[a.Step]++
			}
		}
		Expect(texts).To(HaveKeyWithValue(session.Block2A, 3))
		Expect(texts).To(HaveKeyWithValue(session.Block2B, 3))
	})
})

var _ = DescribeTable("A damaged session is rejected",
	func(step session.Step, phase session.Phase, in session.Input, damage func(*session.Session)) {
		w := to(step, phase)
		damage(&w.Session)
		_, err := session.Next(w.Session, in, noon)
		Expect(err).NotTo(MatchError(session.ErrInput))
		Expect(err).To(MatchError(ContainSubstring(`restore the session "s"`)))
	},
	Entry("no such step", session.Block1, session.Asking, session.Answered{Text: "x"},
		func(s *session.Session) { s.Step = "BLOC_11" }),
	Entry("no such phase", session.Block1, session.Asking, session.Answered{Text: "x"},
		func(s *session.Session) { s.Phase = "sleeping" }),
	Entry("no queue", session.Block1, session.Asking, session.Answered{Text: "x"},
		func(s *session.Session) { s.Queue = nil }),
	Entry("an empty queue", session.Block1, session.Asking, session.Answered{Text: "x"},
		func(s *session.Session) { s.Queue.Questions = nil }),
	Entry("a cursor behind the last question", session.Block1, session.Asking, session.Answered{Text: "x"},
		func(s *session.Session) { s.Queue.Cursor = 3 }),
	Entry("a cursor before the first question", session.Block2A, session.Asking, session.Answered{Text: "x"},
		func(s *session.Session) { s.Queue.Cursor = -1 }),
	Entry("the queue of another step", session.Block2B, session.Asking, session.Answered{Text: "x"},
		func(s *session.Session) { s.Queue.Step = session.Block2A }),
	Entry("a question of a complete queue", session.Block1, session.Asking, session.Answered{Text: "x"},
		func(s *session.Session) { s.Queue.Complete = true }),
	Entry("a batch where questions are adaptive", session.Block2A, session.Asking, session.Answered{Text: "A"},
		func(s *session.Session) { s.Queue.Questions = []string{"a", "b", "c"} }),
	Entry("a fourth adaptive question", session.Block2A, session.Asking, session.Answered{Text: "A"},
		func(s *session.Session) {
			s.Queue.Questions, s.Queue.Cursor = []string{"a", "b", "c", "d"}, 3
		}),
	Entry("a reply for no purpose", session.Identity, session.Asking, session.Replied{Text: "x"},
		func(s *session.Session) { s.Phase, s.Queue, s.Owed = session.Owing, nil, &session.Owed{} }),
	Entry("a question after the last block", session.Block9, session.Asking, session.Answered{Text: "x"},
		func(s *session.Session) { s.Step, s.Queue.Step = session.Block10, session.Block10 }),
	Entry("a mirror in a block without one", session.Block1, session.Reflecting, session.Went{},
		func(s *session.Session) { s.Step = session.Block2A }),
	Entry("a wait for nothing", session.Preamble, session.Waiting, session.Went{},
		func(s *session.Session) { s.Step = session.Block1 }),
	Entry("an end before the end", session.Preamble, session.Waiting, session.Went{},
		func(s *session.Session) { s.Phase = session.Finished }),
	Entry("a debt of nothing", session.Preamble, session.Owing, session.Replied{Text: "x"},
		func(s *session.Session) { s.Owed = nil }),
	Entry("a debt of no known purpose", session.Preamble, session.Owing, session.Replied{Text: "x"},
		func(s *session.Session) { s.Owed.Purpose = "poem" }),
	Entry("a debt of another step", session.Preamble, session.Owing, session.Replied{Text: "x"},
		func(s *session.Session) { s.Owed.Purpose = session.PurposeMatching }),
	Entry("a debt where no call is made", session.Preamble, session.Owing, session.Replied{Questions: []string{"x"}},
		func(s *session.Session) { s.Step, s.Owed.Purpose = session.Tone, session.PurposeQuestions }),
	Entry("an adaptive question out of turn", session.Block2A, session.Owing, session.Replied{Text: "x"},
		func(s *session.Session) { s.Owed.Index = 7 }),
	Entry("a mirror before the last answer", session.Block1, session.Asking, session.Replied{Text: "x"},
		func(s *session.Session) {
			s.Phase, s.Owed = session.Owing, &session.Owed{Purpose: session.PurposeMirror}
		}),
	Entry("a second batch for one step", session.Block1, session.Asking, session.Replied{Questions: []string{"x"}},
		func(s *session.Session) {
			s.Phase, s.Owed = session.Owing, &session.Owed{Purpose: session.PurposeQuestions}
		}),
	Entry("a queue where nothing is asked", session.Preamble, session.Waiting, session.Went{},
		func(s *session.Session) { s.Queue = &session.Queue{Step: session.Preamble} }),
	Entry("a batch owed beside an empty queue", session.Block1, session.Owing, session.Replied{Questions: []string{"x"}},
		func(s *session.Session) { s.Queue = &session.Queue{Step: session.Block1, Cursor: -1} }),
	Entry("a fourth adaptive call", session.Block2A, session.Owing, session.Replied{Text: "x"},
		func(s *session.Session) {
			s.Owed.Index = 3
			s.Queue = &session.Queue{Step: session.Block2A, Questions: []string{"a", "b", "c"}, Cursor: 3}
		}),
	Entry("an adaptive call before the answer", session.Block2A, session.Owing, session.Replied{Text: "x"},
		func(s *session.Session) {
			s.Owed.Index = 1
			s.Queue = &session.Queue{Step: session.Block2A, Questions: []string{"a"}}
		}),
	Entry("a debt with the queue of another step", session.Block1, session.Asking, session.Replied{Text: "x"},
		func(s *session.Session) {
			s.Step, s.Phase, s.Owed = session.Block10, session.Owing, &session.Owed{Purpose: session.PurposeProfile}
		}),
)

var _ = DescribeTable("A blank input is rejected",
	func(step session.Step, phase session.Phase, in session.Input) {
		_, err := to(step, phase).move(in)
		Expect(err).To(MatchError(session.ErrInput))
	},
	Entry("an empty answer", session.Block1, session.Asking, session.Answered{}),
	Entry("a blank answer", session.Block1, session.Reflecting, session.Answered{Text: " \n\t\u00a0"}),
	Entry("no questions", session.Block1, session.Owing, session.Replied{Text: "no batch"}),
	Entry("a blank question", session.Block1, session.Owing, session.Replied{Questions: []string{"a?", " "}}),
	Entry("an empty text", session.Matching, session.Owing, session.Replied{Questions: []string{"a?"}}),
)
