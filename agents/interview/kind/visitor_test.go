package kind

import (
	"context"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/interview/prompt"
	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/agents/interview/validate"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/llm/openai"
	"github.com/rehearse-dev/rehearse/mocks"
)

// replyTo returns the scripted reply to the request of the service, and what is expected of it.
func replyTo(rules []mocks.Line, s session.Session, history []session.Message) (string, validate.Expected) {
	GinkgoHelper()
	program, err := mocks.Compile(mocks.Script{Rules: rules})
	Expect(err).NotTo(HaveOccurred())
	engine := mocks.NewEngine(program, mocks.EngineOptions{Clock: clock.NewVirtual()})
	backend, err := openai.New(openai.Config{
		BaseURL: "http://127.0.0.1/v1", APIKey: "scripted", Model: "m", Offline: true, Clock: clock.NewVirtual(),
		Transport: mocks.NewTransport(engine), Retry: openai.RetryPolicy{Max: -1},
	})
	Expect(err).NotTo(HaveOccurred())
	prompts, err := prompt.Load(s.Language)
	Expect(err).NotTo(HaveOccurred())
	reply, err := backend.Complete(context.Background(), prompts.Build(s, history, prompt.Limits{}).Request)
	Expect(err).NotTo(HaveOccurred())
	return reply.Text, validate.Expected{
		Purpose: s.Owed.Purpose, Step: s.Step, Index: s.Owed.Index, Language: s.Language, Medium: s.Medium, Works: s.Works,
	}
}

// expectGoodWording checks a scripted text against the rules of wording and the form of address.
func expectGoodWording(text string, s session.Session) {
	GinkgoHelper()
	var titles []string
	for _, title := range s.Works {
		titles = append(titles, title, "A") // begins with a vowel
	}
	text = strings.NewReplacer(titles...).Replace(text)
	Expect(slips(text, s.Owed.Purpose)).To(BeEmpty(), text)
	if s.Language == session.French {
		for word := range strings.FieldsFuncSeq(strings.ToLower(text), notLetter) {
			Expect(strangers[s.Register]).NotTo(ContainElement(word), text)
		}
		Expect(text).NotTo(MatchRegexp(`(?i)(?:^|[^\p{L}'])(?:te|me|se|de|que|le|la) [aàeéèêiouAÉ]`)) // must be elided
	}
}

func replyToVisitor(s session.Session) (string, validate.Expected) {
	GinkgoHelper()
	rules, err := scriptedReplies(visitorReplies, s.Language)
	Expect(err).NotTo(HaveOccurred())
	return replyTo(rules, s, nil)
}

var _ = Describe("The replies to a visitor in block 2", func() {
	DescribeTable("fit the answers of the visitor",
		func(language session.Language, medium session.Medium, works ...string) {
			for _, register := range []session.Register{session.Informal, session.Formal} {
				s := session.Session{Language: language, Step: session.Block2A, Medium: medium, Register: register}
				for index := 1; index <= 2; index++ {
					s.Owed = &session.Owed{Purpose: session.PurposeAdaptive, Index: index}
					if index == 2 && len(works) > 0 {
						s.Works = works
					}
					text, want := replyToVisitor(s)
					Expect(validate.Check(text, want).Findings).To(BeEmpty(), text)
					expectGoodWording(text, s)
				}
				s.Step, s.Owed = session.Block2B, &session.Owed{Purpose: session.PurposeQuestions}
				if len(works) > 0 {
					s.CoreWork = works[0]
				}
				text, want := replyToVisitor(s)
				result := validate.Check(text, want)
				Expect(result.Valid()).To(BeTrue(), "%v", result.Findings)
				asked := map[string]bool{}
				for _, question := range result.Questions {
					for _, work := range works {
						question = strings.ReplaceAll(question, work, "")
					}
					if len(works) <= 3 { // more works share their questions
						Expect(asked).NotTo(HaveKey(question))
					}
					asked[question] = true
				}
				for _, work := range works {
					Expect(text).To(ContainSubstring(work))
				}
				expectGoodWording(text, s)
				s.Owed = &session.Owed{Purpose: session.PurposeMirror}
				text, want = replyToVisitor(s)
				Expect(validate.Check(text, want).Valid()).To(BeTrue(), text)
				Expect(strings.Count(text, "\n")).To(Equal(3))
				expectGoodWording(text, s)
			}
		},
		Entry("three films", session.French, session.Film, "Dune", "Alien", "Amélie"),
		Entry("three series", session.English, session.Series, "Dark", "Lost", "The Wire"),
		Entry("one", session.French, session.Series, "Lost"),
		Entry("five", session.English, session.Film, "Up", "Jaws", "Heat", "Big Fish", "What's Up, Doc?"),
		Entry("none", session.French, session.Film),
	)

	It("exist in every language", func() {
		for _, l := range session.Languages() {
			for _, set := range []string{visitorReplies, sharedReplies} {
				rules, err := scriptedReplies(set, l)
				Expect(err).NotTo(HaveOccurred())
				Expect(rules).To(HaveEach(HaveField("Optional", true)))
			}
		}
		_, err := scriptedReplies(visitorReplies, "de")
		Expect(err).To(HaveOccurred())
	})
})
