package prompt_test

import (
	"fmt"
	"regexp"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/agents/interview/validate"
)

// Prompts and validators are written apart. If they disagreed, every good reply
// would be refused and paid for twice.
var _ = Describe("a reply that follows the prompts", func() {
	registers := []session.Register{session.Informal, session.Formal}

	accepted := func(reply string, now session.Session, l session.Language) {
		GinkgoHelper()
		Expect(validate.Check(reply, validate.Expected{
			Purpose: now.Owed.Purpose, Step: now.Step, Index: now.Owed.Index, Language: l, Medium: now.Medium, Works: now.Works,
		}).Findings).To(BeEmpty(), reply)
	}
	// each calls check with the task of a call in each language and register.
	each := func(now session.Session, check func(text string, l session.Language)) {
		for _, l := range session.Languages() {
			for _, r := range registers {
				now.Register = r
				check(task(l, now), l)
			}
		}
	}
	// lines returns the matches of a pattern in a task.
	lines := func(text, pattern string) []string {
		return regexp.MustCompile(`(?m)`+pattern).FindAllString(text, -1)
	}

	It("is accepted as a mirror", func() {
		hint := regexp.MustCompile(`(?m)^\(.*(20|25) (mots|words).*\)$`)
		for _, step := range session.Steps() {
			if step.Block() == 0 || step.Block() == 2 || step.Block() == 10 {
				continue
			}
			now := owing(step, session.PurposeMirror, 0)
			each(now, func(text string, l session.Language) {
				start := strings.Index(text, "1️⃣")
				end := start + strings.Index(text[start:], "3️⃣")
				end += strings.Index(text[end:], ".\n") + 1
				reply := hint.ReplaceAllString(text[start:end], "word word word")
				Expect(strings.Count(reply, "word word word")).To(Equal(2))
				accepted(reply, now, l)
			})
		}
	})

	It("is accepted as a mirror of block 2B", func() {
		now := owing(session.Block2B, session.PurposeMirror, 0)
		each(now, func(text string, l session.Language) {
			watch := lines(text, `Point de vigilance\s:|Watch point:`)
			Expect(watch).To(HaveLen(1))
			accepted("Jonas in Dark waits.\nOmar in The Wire has rules.\nJack in Lost leads.\n"+watch[0]+" one", now, l)
		})
	})

	It("is accepted as a profile", func() {
		now := owing(session.Block10, session.PurposeProfile, 0)
		each(now, func(text string, l session.Language) {
			headings := lines(text, `^(🔥|🧱|⚖️|🧩|🛠️|🎯|🧠).*$`)
			Expect(headings).To(HaveLen(7))
			section := map[session.Language]string{
				session.French: "Le jour de la panne, l'équipe de Lyon est restée jusqu'à minuit.", session.English: "On the day of the outage, the team in Leeds stayed until midnight.",
			}[l]
			accepted(strings.Join(headings, "\n"+section+"\n")+"\n"+section+"\n", now, l)
		})
	})

	It("is accepted as a matching, whichever status it has", func() {
		now := owing(session.Matching, session.PurposeMatching, 0)
		each(now, func(text string, l session.Language) {
			statuses := lines(text, `^(🟢|🔵|🟠).*$`)
			Expect(statuses).To(HaveLen(3))
			quoted := regexp.MustCompile(`[«"]\s?([^«»"]*?)\s?[»"]`).FindAllStringSubmatch(text, 4)
			Expect(quoted).To(HaveLen(4), "the heading and its three points")
			for _, status := range statuses {
				reply := status + "\n\n"
				for i, heading := range quoted {
					reply += heading[1] + "\n"
					if i > 0 {
						reply += "Words.\n"
					}
				}
				accepted(reply, now, l)
			}
		})
	})

	It("is accepted as the first question of block 2A, and as a batch", func() {
		now := owing(session.Block2A, session.PurposeAdaptive, 0)
		each(now, func(text string, l session.Language) {
			accepted("Which one is it?\n"+strings.Join(lines(text, `^[AB]\. .*$`), "\n"), now, l)
		})
		now = owing(session.Block5, session.PurposeQuestions, 0)
		each(now, func(text string, l session.Language) {
			separator := lines(text, `^-.*-$`)
			Expect(separator).To(HaveLen(1))
			choice, open, option := "Which one is it for you?", "What happened in it?", "This one"
			if l == session.French {
				choice, open, option = "Laquelle est-ce pour toi ?", "Que s'y est-il passé ?", "Celle"
			}
			for _, letter := range "ABCDE" {
				choice += fmt.Sprintf("\n%c. %s %c", letter, option, letter)
			}
			accepted(choice+"\n"+separator[0]+"\n"+open+"\n"+separator[0]+"\n"+choice, now, l)
		})
	})
})
