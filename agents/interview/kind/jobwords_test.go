package kind

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/interview/prompt"
	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/agents/interview/validate"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/internal/textfold"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/llm/openai"
	"github.com/rehearse-dev/rehearse/mocks"
)

// talk are the stems of words that a reply may use although no prompt contains them: they describe the
// conversation, and no job.
var talk = map[session.Language]string{
	session.French: `bonjour merci bienven commenc avanc parcour aller allons quand voulo voudr veux souha simple attend deja rien peut
		peux voici voila concern prepar longu longue suffit lettre page mots comme vient repon reponds seule cela celui ceci
		examen course devine cherch compren interes aide appre petit moment decis geste toujou souvent echang devien revien
		juste erreur tromp compte meilleu davanta autre aucune prendre temps donne nuance liras verrez recev tendrai viendra maniere travail
		porten arrive question abord intitul quelqu celle tienne mienne telle jusque histoir d'ici parler sers sert serve alors plus moins
		descr votre vous etapes partagees organisation mouvement aime valeurs long clients dirai lignes pense avoir pouvez chacune utile convient conviendrait dises acquis utilise joue ensemble avez faite dites nous preci avant dont sera vienn`,
	session.English: `thank thanks hello welcom good meet lead called words come comes back until question about work worded start
		answer own whether letter whole page neither exam race guess help moments such decis something rather usual where conver inter
		gets whenev like miss read short tell told single enough want long under stand first right now all say much more between other
		will your also suit suits lies asks daily forgive named leads helps describe
		here sets motion stories values learning customers lines think have really tells polished often becomes useful frank begin being organisation steps`,
}

// stems returns the first five letters of each word of at least four letters, folded.
func stems(text string) []string {
	var all []string
	r := textfold.NewReader(text)
	for w, ok := r.Next(); ok; w, ok = r.Next() {
		if letters := []rune(string(w.Text)); len(letters) >= 4 {
			all = append(all, string(letters[:min(5, len(letters))]))
		}
	}
	return all
}

// unsaid returns the words of a text whose stems are neither in the sources nor talk.
func unsaid(text string, l session.Language, sources ...string) []string {
	known := map[string]bool{}
	for _, source := range append(sources, talk[l]) {
		for _, stem := range stems(source) {
			known[stem] = true
		}
	}
	var all []string
	for _, stem := range stems(text) {
		if !known[stem] && !slices.Contains(all, stem) {
			all = append(all, stem)
		}
	}
	return all
}

// scripted returns the request for the owed message of a session and the reply of a persona's script.
func scripted(p Persona, set *prompt.Set, s session.Session) (llm.Request, string) {
	GinkgoHelper()
	script, err := Replies(p.Name)
	Expect(err).NotTo(HaveOccurred())
	program, err := mocks.Compile(script)
	Expect(err).NotTo(HaveOccurred())
	backend, err := openai.New(openai.Config{
		BaseURL: "http://127.0.0.1/v1", APIKey: "scripted", Model: "m", Offline: true, Clock: clock.NewVirtual(),
		Transport: mocks.NewTransport(mocks.NewEngine(program, mocks.EngineOptions{Clock: clock.NewVirtual()})), Retry: openai.RetryPolicy{Max: -1},
	})
	Expect(err).NotTo(HaveOccurred())
	request := set.Build(s, nil, prompt.Limits{}).Request
	reply, err := backend.Complete(context.Background(), request)
	Expect(err).NotTo(HaveOccurred())
	return request, reply.Text
}

func textsOf(r llm.Request) string {
	var b strings.Builder
	for _, m := range r.Messages {
		b.WriteString(m.Content + "\n")
	}
	return b.String()
}

// jobSentences returns the sentences of a text that speak of the job or its team.
func jobSentences(text string) string {
	var all []string
	for _, sentence := range regexp.MustCompile(`[^.;:!?\n]+`).FindAllString(text, -1) {
		if regexp.MustCompile(`(?i)\b(poste|métier|role|job|team)\b|équipe`).MatchString(sentence) {
			all = append(all, sentence)
		}
	}
	return strings.Join(all, "\n")
}

var _ = Describe("What scripted replies say about the job", Label("I-02"), func() {
	other := map[session.Language]session.Job{
		session.French: {
			ID: "nurse", Language: session.French, Title: "Infirmier de nuit", Mission: "Veiller sur un service de douze lits.",
			Context: "Deux collègues et un médecin de garde.", Requirements: []string{"le calme"},
		},
		session.English: {
			ID: "nurse", Language: session.English, Title: "Night nurse", Mission: "Watch over a ward of twelve beds.",
			Context: "Two colleagues and a doctor on call.", Requirements: []string{"calm"},
		},
	}

	It("is found in the texts of a reply", func() {
		Expect(unsaid("Le poste a peu de hiérarchie.", session.French, "Le poste : vendre.")).To(Equal([]string{"hiera"}))
		Expect(jobSentences("Tu écoutes. Ce poste use. Bien.")).To(Equal(" Ce poste use"))
	})

	for _, name := range Personas() {
		It(fmt.Sprintf("is in the prompts for %s", name), func() {
			p, err := LoadPersona(name)
			Expect(err).NotTo(HaveOccurred())
			set, err := prompt.Load(p.Language)
			Expect(err).NotTo(HaveOccurred())
			s := session.Session{Language: p.Language, Register: intentions[name].register, Step: session.Preamble, Owed: &session.Owed{Purpose: session.PurposePreamble}}

			for _, about := range []session.Job{shippedJob(p.Language), other[p.Language]} {
				request, text := scripted(p, set.For(about), s)
				Expect(validate.Check(text, validate.Expected{Purpose: session.PurposePreamble, Step: session.Preamble, Language: p.Language}).Findings).To(BeEmpty())
				Expect(text).To(And(ContainSubstring(about.Title), ContainSubstring(about.Mission)))
				Expect(unsaid(text, p.Language, textsOf(request), p.Answer(session.Identity, 0))).To(BeEmpty(), text)
				for _, requirement := range about.Requirements {
					Expect(text).NotTo(ContainSubstring(requirement), "it gives the matching away")
				}
			}

			s.Step, s.Owed = session.Matching, &session.Owed{Purpose: session.PurposeMatching}
			request, text := scripted(p, set, s)
			sources := []string{textsOf(request)}
			for _, answers := range p.Answers {
				sources = append(sources, answers...)
			}
			for _, comment := range p.Comments {
				sources = append(sources, comment)
			}
			script, err := Replies(name)
			Expect(err).NotTo(HaveOccurred())
			for _, rule := range script.Rules {
				if p := session.Purpose(rule.When.Purpose); p != session.PurposePreamble && p != session.PurposeMatching {
					sources = append(sources, rule.Text.String(), rule.Template)
				}
			}
			Expect(unsaid(jobSentences(text), p.Language, sources...)).To(BeEmpty(), text)

			_, text = scripted(p, set.For(other[p.Language]), s)
			Expect(validate.Check(text, validate.Expected{Purpose: session.PurposeMatching, Step: session.Matching, Language: p.Language}).Findings).To(BeEmpty())
			Expect(text).To(ContainSubstring(other[p.Language].Mission))
		})
	}
})
