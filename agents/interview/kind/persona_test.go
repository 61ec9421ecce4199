package kind

import (
	"cmp"
	"io/fs"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/agents/interview/validate"
	"github.com/rehearse-dev/rehearse/fixtures"
	"github.com/rehearse-dev/rehearse/llm"
)

// meant is the intended interpretation of the answers of a persona.
type meant struct {
	language session.Language
	register session.Register
	medium   session.Medium
	status   string
	works    []string
	core     string // if it is not the first work
	again    int    // answers that do not choose, after which the question is asked again
}

var intentions = map[string]meant{
	"lea": {
		session.French, session.Informal, session.Series, "🟢 ALIGNÉ",
		[]string{"Better Call Saul", "Le Bureau des légendes", "The Bear"},
		"", 0,
	},
	"tom": {
		session.English, session.Informal, session.Film, "🔵 CONDITIONALLY ALIGNED",
		[]string{"The Martian", "Jerry Maguire", "Whiplash"},
		"", 0,
	},
	"karim": {
		session.French, session.Formal, session.Film, "🟠 PAS ALIGNÉ ACTUELLEMENT",
		[]string{"Heat", "Gladiator", "Ocean's Eleven"},
		"", 0,
	},
	"nora": {
		session.French, session.Informal, session.Series, "🔵 ALIGNEMENT CONDITIONNEL",
		[]string{"Dix pour cent", "Le Jeu de la dame", "Friends"},
		"", 0,
	},
	"sam": {
		session.English, session.Informal, session.Series, "🟢 ALIGNED",
		[]string{"Ted Lasso", "Severance", "Mad Men"},
		"", 0,
	},
	"ines": {
		session.French, session.Informal, session.Series, "🔵 ALIGNEMENT CONDITIONNEL",
		[]string{"lupin", "dark", "hpi"},
		"", 0,
	},
	"kylian": {
		session.French, session.Informal, session.Series, "🔵 ALIGNEMENT CONDITIONNEL",
		[]string{"Braking Bad", "Game of throne", "Peaky Blinder"},
		"Brekin bad", 0,
	},
	"odile": {
		session.French, session.Formal, session.Film, "🔵 ALIGNEMENT CONDITIONNEL",
		[]string{"Le Comte de Monte-Cristo", "Madame Bovary", "Les Misérables"},
		"Les Misérables", 1,
	},
	"bruno": {
		session.French, session.Formal, session.Film, "🔵 ALIGNEMENT CONDITIONNEL",
		[]string{"Le Cercle des poètes disparus", "Le Dîner de cons", "12 hommes en colère"},
		"12 hommes en colère", 0,
	},
	"gaston": {
		session.French, session.Informal, session.Series, "🔵 ALIGNEMENT CONDITIONNEL",
		[]string{"Le Bureau des légendes", "Chernobyl", "Kaamelott"},
		"Kaamelott", 0,
	},
	"yanis": {
		session.French, session.Formal, session.Film, "🔵 ALIGNEMENT CONDITIONNEL",
		[]string{"Intouchables", "Le Grand Bleu", "Astérix et Obélix Mission Cléopâtre"},
		"Le Grand Bleu", 2,
	},
	"elodie": {
		session.French, session.Informal, session.Film, "🔵 ALIGNEMENT CONDITIONNEL",
		[]string{"Parasite", "Amélie", "Volver"},
		"Volver", 0,
	},
	"clara": {
		session.French, session.Informal, session.Series, "🔵 ALIGNEMENT CONDITIONNEL",
		[]string{"Call the Midwife", "Downton Abbey", "Le Jeu de la dame"},
		"Le Jeu de la dame", 0,
	},
	"zoe": {
		session.English, session.Informal, session.Series, "🔵 CONDITIONALLY ALIGNED",
		[]string{"Heartstopper", "Stranger Things", "Wednesday"},
		"Heartstopper", 0,
	},
	"ruth": {
		session.English, session.Informal, session.Series, "🔵 CONDITIONALLY ALIGNED",
		[]string{"detectorists", "happy valley", "line of duty"},
		"detectorists", 0,
	},
	"preston": {
		session.English, session.Formal, session.Film, "🔵 CONDITIONALLY ALIGNED",
		[]string{"The Founder", "Moneyball", "Ford v Ferrari"},
		"Moneyball", 0,
	},
	"nadia": {
		session.English, session.Formal, session.Series, "🔵 CONDITIONALLY ALIGNED",
		[]string{"Borgen", "Succession", "The Crown"},
		"Borgen", 1,
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
		Describe(name, Ordered, func() {
			var (
				persona Persona
				replies []reply
				results []validate.Result
				want    = intentions[name]
				end     session.Session
				again   int
			)

			BeforeAll(func() {
				var err error
				persona, err = LoadPersona(name)
				Expect(err).NotTo(HaveOccurred())
				end, replies, results, again = rehearse(persona)
			})

			It("has a valid id and the intended language", func() {
				Expect(persona.Candidate).To(MatchRegexp(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`))
				Expect(persona.Language).To(Equal(want.language))
			})

			It("answers exactly the questions", func() {
				counts := map[session.Step]int{session.Identity: 1, session.Tone: 1}
				mirrors := map[session.Step]bool{}
				for i, r := range replies {
					switch r.purpose {
					case session.PurposeQuestions:
						counts[r.step] = len(results[i].Questions)
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

			It("has a complete set of replies of its own, or one for what depends on its answers", func() {
				own, err := ownReplies(persona)
				Expect(err).NotTo(HaveOccurred())
				files, err := fs.Glob(fixtures.Replies, "replies/"+name+"/*.md")
				Expect(err).NotTo(HaveOccurred())
				Expect(own).To(HaveLen(len(files)), "every file answers a call")
				if !persona.SharedReplies {
					Expect(own).To(HaveLen(24))
				}
			})

			It("gets replies without findings", func() {
				for i, r := range replies {
					Expect(results[i].Findings).To(BeEmpty(), "%s\n%s", r.file(), r.text)
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
				Expect(end.Phase).To(Equal(session.Finished))
				Expect(replies).To(HaveLen(24))
				Expect(again).To(Equal(want.again))
				Expect(end.Register).To(Equal(want.register))
				Expect(end.Medium).To(Equal(want.medium))
				Expect(end.Works).To(Equal(want.works))
				Expect(end.CoreWork).To(Equal(cmp.Or(want.core, want.works[0])))
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

// rehearse takes a persona through the state machine. It returns the last state, the replies and what
// was found in them, and the number of answers after which a question was asked again; every other
// answer must be stored.
func rehearse(p Persona) (end session.Session, replies []reply, results []validate.Result, again int) {
	GinkgoHelper()
	script, err := Replies(p.Name)
	Expect(err).NotTo(HaveOccurred())
	now := time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC)
	var history []session.Message
	move := session.Start(session.Session{Language: p.Language})
	for range 200 {
		s := move.Session
		var in session.Input = session.Went{}
		switch comment := p.Comment(s.Step); s.Phase {
		case session.Finished:
			return s, replies, results, again
		case session.Owing:
			text, want := replyTo(script.Rules, s, history)
			result := validate.Check(text, want)
			replies = append(replies, reply{want.Purpose, want.Step, want.Index, text})
			results = append(results, result)
			in = session.Replied{Text: text, Questions: result.Questions}
			history = append(history, session.Message{Role: llm.Assistant, Step: s.Step, Text: text})
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
		if answer, answers := in.(session.Answered); answers {
			history = append(history, session.Message{Role: llm.User, Step: s.Step, Text: answer.Text})
			if next.Answer == nil {
				again++
			}
		}
		move = next
	}
	return move.Session, replies, results, again
}
