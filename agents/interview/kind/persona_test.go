package kind

import (
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/agents/interview/validate"
)

// meant is the intended interpretation of the answers of a persona.
type meant struct {
	language session.Language
	register session.Register
	medium   session.Medium
	status   string
	works    []string // the core work first
}

var intentions = map[string]meant{
	"lea": {
		session.French, session.Informal, session.Series, "🟢 ALIGNÉ",
		[]string{"Better Call Saul", "Le Bureau des légendes", "The Bear"},
	},
	"tom": {
		session.English, session.Informal, session.Film, "🔵 CONDITIONALLY ALIGNED",
		[]string{"The Martian", "Jerry Maguire", "Whiplash"},
	},
	"karim": {
		session.French, session.Formal, session.Film, "🟠 PAS ALIGNÉ ACTUELLEMENT",
		[]string{"Heat", "Gladiator", "Ocean's Eleven"},
	},
	"nora": {
		session.French, session.Informal, session.Series, "🔵 ALIGNEMENT CONDITIONNEL",
		[]string{"Dix pour cent", "Le Jeu de la dame", "Friends"},
	},
	"sam": {
		session.English, session.Informal, session.Series, "🟢 ALIGNED",
		[]string{"Ted Lasso", "Severance", "Mad Men"},
	},
}

var _ = Describe("The personas", func() {
	It("all have specs", func() {
		for _, name := range Personas() {
			Expect(intentions).To(HaveKey(name))
		}
		Expect(Personas()).To(HaveLen(len(intentions)))
	})

	It("cover every status", func() {
		signs := map[string]bool{}
		for _, want := range intentions {
			signs[strings.Fields(want.status)[0]] = true
		}
		Expect(signs).To(And(HaveLen(3), HaveKey("🟢"), HaveKey("🔵"), HaveKey("🟠")))
	})

	It("suggests a name for an unknown persona", func() {
		_, err := LoadPersona("leo")
		Expect(err).To(MatchError(ContainSubstring(`did you mean "lea"?`)))
		_, err = Replies("../personas/lea")
		Expect(err).To(MatchError(ContainSubstring(`unknown persona "../personas/lea"`)))
	})

	for _, name := range Personas() {
		Describe(name, func() {
			var (
				persona Persona
				replies []reply
				want    meant
			)

			BeforeEach(func() {
				var err error
				persona, err = LoadPersona(name)
				Expect(err).NotTo(HaveOccurred())
				replies, err = repliesTo(name)
				Expect(err).NotTo(HaveOccurred())
				want = intentions[name]
			})

			It("has a valid id and the intended language", func() {
				Expect(persona.Candidate).To(MatchRegexp(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`))
				Expect(persona.Language).To(Equal(want.language))
			})

			It("answers exactly the questions", func() {
				counts := map[session.Step]int{session.Identity: 1, session.Tone: 1}
				mirrors := map[session.Step]bool{}
				for _, r := range replies {
					switch r.purpose {
					case session.PurposeQuestions:
						counts[r.step] = len(validate.Check(r.text, expected(r, persona, want)).Questions)
					case session.PurposeAdaptive:
						counts[r.step]++
					case session.PurposeMirror:
						mirrors[r.step] = true
					default:
					}
				}
				for step, count := range counts {
					Expect(persona.Answers[step]).To(HaveLen(count), string(step))
					for i := range count {
						Expect(persona.Answer(step, i)).NotTo(BeEmpty(), "%s %d", step, i)
					}
					Expect(persona.Answer(step, count)).To(BeEmpty(), string(step))
				}
				Expect(persona.Answers).To(HaveLen(len(counts)))
				for step := range persona.Comments {
					Expect(mirrors).To(HaveKey(step))
				}
			})

			It("gets replies without findings", func() {
				Expect(replies).To(HaveLen(24))
				for _, r := range replies {
					Expect(validate.Check(r.text, expected(r, persona, want)).Findings).To(BeEmpty(), r.file())
				}
			})

			if intentions[name].language == session.French { // English has one form of address
				It("is addressed in its register in every text", func() {
					for _, r := range replies {
						text := strings.ReplaceAll(strings.ToLower(r.text), "rendez-vous", "rencontre")
						for word := range strings.FieldsFuncSeq(text, notLetter) {
							Expect(strangers[want.register]).NotTo(ContainElement(word), r.file())
						}
					}
				})
			}

			It("gets the intended status", func() {
				matching := replies[len(replies)-1]
				Expect(matching.purpose).To(Equal(session.PurposeMatching))
				Expect(matching.text).To(HavePrefix(want.status + "\n"))
			})

			It("finishes the interview in 24 calls with the intended choices", func() {
				end, calls := rehearse(persona, replies)
				Expect(end.Phase).To(Equal(session.Finished))
				Expect(calls).To(Equal(24))
				Expect(end.Register).To(Equal(want.register))
				Expect(end.Medium).To(Equal(want.medium))
				Expect(end.Works).To(Equal(want.works))
				Expect(end.CoreWork).To(Equal(want.works[0]))
			})
		})
	}
})

// strangers are words of the other register.
var strangers = map[session.Register][]string{
	session.Informal: {"vous", "votre", "vos", "vôtre", "vôtres"},
	session.Formal:   {"tu", "te", "toi", "ton", "ta", "tes", "tien", "tienne"},
}

func notLetter(r rune) bool {
	return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzàâçéèêëîïôûùœ", r)
}

func expected(r reply, p Persona, want meant) validate.Expected {
	e := validate.Expected{Purpose: r.purpose, Step: r.step, Index: r.index, Language: p.Language}
	if slices.Index(session.Steps(), r.step) >= slices.Index(session.Steps(), session.Block2A) {
		e.Medium, e.Works = want.medium, want.works
	}
	return e
}

// rehearse takes a persona through the state machine, and returns the last state and the number of
// owed calls. Every answer must be stored.
func rehearse(p Persona, replies []reply) (end session.Session, calls int) {
	GinkgoHelper()
	now := time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC)
	move := session.Start(session.Session{Language: p.Language})
	for range 200 {
		s := move.Session
		var in session.Input = session.Went{}
		switch comment := p.Comment(s.Step); s.Phase {
		case session.Finished:
			return s, calls
		case session.Owing:
			reply := replies[calls]
			Expect(reply.purpose).To(Equal(s.Owed.Purpose))
			Expect(reply.step).To(Equal(s.Step))
			calls++
			in = session.Replied{Text: reply.text, Questions: validate.Check(reply.text, validate.Expected{
				Purpose: s.Owed.Purpose, Step: s.Step, Language: s.Language, Medium: s.Medium, Works: s.Works,
			}).Questions}
		case session.Asking:
			in = session.Answered{Text: p.Answer(s.Step, max(move.Say.Question, 0))}
		case session.Reflecting:
			if comment != "" {
				in = session.Answered{Text: comment}
			}
		default:
		}
		next, err := session.Next(s, in, now)
		Expect(err).NotTo(HaveOccurred())
		if _, answers := in.(session.Answered); answers {
			Expect(next.Answer).NotTo(BeNil(), "an answer at %s is not kept", s.Step)
		}
		move = next
	}
	return move.Session, calls
}
