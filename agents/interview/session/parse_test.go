package session

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"golang.org/x/text/unicode/norm"
)

// phrasings lists answers by their meaning; "" makes no choice.
type phrasings map[string][]string

var tones = phrasings{
	"informal": {
		"A", "a", "A.", "a)", "(A)", "A)", "A :", "A - tutoiement", "A, on se tutoie", "Réponse A", "option a", "**A**",
		"A!", " A \n", "Je choisis A.", "La A", "A. Le vouvoiement me met mal à l'aise",
		"tu", "Tu", "TU", "« tu »", "le tu", "Tu, c'est plus simple", "tu me va très bien", "plutôt tu", "tu stp", "On se dit tu",
		"Dis-moi tu", "dites-moi « tu »", "Disons tu", "Tu, si vous voulez", "tu plutôt que vous", "plutôt tu que vous", "oui, tu",
		"on peut se tutoyer", "tutoie-moi", "Tutoie moi", "tutoyez-moi s'il vous plaît", "Le tutoiement", "le tutoiement me va",
		"TUTOIEMENT", "tutoiment", "Vous pouvez me tutoyer", "tu peux me tutoyer sans problème", "Allez, on se tutoie !",
		"Je préfère que vous me tutoyiez", "Le tutoiement ne me dérange pas", "n'hésitez pas à me tutoyer",
		"pas de souci pour le tutoiement", "pourquoi pas le tutoiement", "pas de vouvoiement", "Pas besoin de me vouvoyer",
		"surtout pas de vouvoiement entre nous", "Je n'aime pas trop le vouvoiement", "le vouvoiement, non merci",
		"Non, tutoyez-moi", "ni vouvoiement ni chichis", "tutoiement plutôt que vouvoiement",
		"je préfère le tutoiement au vouvoiement", "au lieu du vouvoiement, tutoie-moi", "Le vouvoiement me gêne un peu",
		"you can be casual", "Casual is fine", "informal", "Informal please", "keep it casual", "first-name basis",
		"Not too formal please", "Don't be formal", "no need to be formal", "I'd rather not be so formal",
		"casual rather than formal", "I don’t mind being casual", "Let's keep it relaxed", "less formal", "Nothing too formal",
		"moi c'est tu", "c'est tu pour moi", "Va pour le tu", "passons au tu", "On peut passer au tu", "the first option", "la première",
		"1", "1.", "Réponse 1", "Pas trop de formalités, on se tutoie", "Je suis plus à l'aise avec le tutoiement", "No need for formality",
		"Call me by my first name, keep it informal", "j'aime mieux qu'on se tutoie", "relax, casual works",
		"tout sauf vous", "anything but formal", "D'habitude je vouvoie, mais allez, tu", "vouvoyez-moi pas", "infromal",
		"Tu. Le vous me met la pression.", "formal makes me nervous, so casual", "I prefer informal to formal", "informal, not formal", "friendly!",
	},
	"formal": {
		"B", "b", "B.", "b)", "(B)", "B les deux points", "Réponse B", "Option B please", "B, vouvoiement", "Pas A",
		"vous", "Vous.", "VOUS", "le vous", "Le vous me convient", "vous, s'il vous plaît", "plutôt vous", "plutôt le vous que le tu",
		"Dites-moi vous", "je préfère que tu me dises vous", "vous svp", "pas tu", "Pas de « tu » : vous",
		"plutôt le vouvoiement", "vouvoiement", "Vouvoyez-moi", "vouvoie moi", "voussoyez-moi", "Je préfère qu'on se vouvoie",
		"pas de tutoiement", "Pas de tutoiement, merci", "je n'ai pas envie qu'on me tutoie", "ne me tutoie pas", "ne me tutoyez pas",
		"le tutoiement, pas trop", "Le tutoiement me met mal à l'aise", "je déteste le tutoiement", "évitons le tutoiement",
		"vouvoiement plutôt que tutoiement", "sans hésiter le vouvoiement", "Tu peux me vouvoyer",
		"formal please", "Formal", "formally, please", "let's stay formal", "I'd prefer something formal", "No, formal please",
		"keep it professional", "Not casual", "I'd rather not be casual", "formal rather than casual", "please don't be casual",
		"la deuxième", "2", "the second one", "Je ne veux pas du tutoiement", "gardons le vous", "il vaut mieux se vouvoyer",
		"let's not be too casual", "I would rather keep things formal", "Je suis de la vieille école : vouvoiement", "please don't use my first name",
		"more formal than casual", "No casual stuff", "polite, please",
	},
	"": {
		"", " ", "?", "oui", "yes", "OK", "as you like", "comme vous voulez", "comme tu veux", "Peu importe", "Et vous ?",
		"Très bien, et vous ?", "à vous de choisir", "À toi de voir", "A ou B", "A et B", "tu ou vous, peu importe",
		"le tutoiement ou le vouvoiement, ça m'est égal", "ni tu ni vous", "neither formal nor casual", "Je vous en prie",
		"Je suis Lea", "C", "AB", "Bonjour", "a good question", "A vous", "42", "I don't mind", "both are fine",
		"A. Vouvoiement", "B. Le tutoiement", "merci à vous", "\x00\xff", "tutorial", "le tuteur",
	},
}

var mediums = phrasings{
	"series": {
		"A", "a", "A.", "a)", "(A)", "A. Série", "A - les séries", "A: séries", "Réponse : A", "la A", "I'd go with A.", "A, clearly",
		"A. Je regarde surtout des séries", "A, parce que dans un film on n'a pas le temps de s'attacher",
		"Série", "serie", "SÉRIES", "les séries", "Des séries évidemment", "mini-séries", "Shows", "TV shows", "tv", "TV series",
		"I like a good show", "sitcoms", "Je suis plutôt séries", "plutôt les séries que les films", "plus de séries que de films",
		"les séries, pas les films", "pas les films", "Je ne regarde pas de films", "I don't watch movies", "je ne regarde plus de films",
		"Je ne regarde que des séries", "I prefer shows to movies", "shows over movies", "more series than films", "les films, non, les séries",
		"I hate movies", "je déteste les films", "jamais de films", "Rather than films, series", "plutôt que des films, des séries",
		"Je préfère les séries aux films", "au lieu des films : les séries", "less films, more series", "Les films, pas trop",
		"Les films m'ennuient, je préfère les séries", "Séries. Le cinéma, très rarement.", "Pas B", "moins de films que de séries",
		"A, pas B", "les films pas trop et du coup le soir chez moi je regarde des séries", "Pas les films ; les séries, non... enfin si, les séries",
		"A car j'aime les longues histoires", "Series because films are too short", "Les séries, parce que les films sont trop courts",
		"Les séries. Le reste me fatigue.", "option 1", "I rarely go to the cinema, I watch series", "série plutôt que film", "les séries bien plus que les films", "Team séries",
		"film... non, séries", "seriiies", "70 % séries, 30 % films", "I used to love movies, now it's series", "les films ne m'attirent pas",
		"both, but mostly series", "les deux, mais surtout des séries", "j'aime les films mais je préfère les séries",
	},
	"film": {
		"B", "b", "B.", "b)", "B)", "B. Le film bien sûr, sans hésiter", "B les films", "B, les séries sont trop longues", "b movies",
		"Je préfère le cinéma", "Film", "film", "FILMS", "Un film", "A film for sure", "a movie", "Movies", "movie nights",
		"Le cinéma, sans hésiter", "le ciné", "long métrage", "longs-métrages", "Plutôt film", "film plutôt",
		"plutôt les films que les séries", "les films plus que les séries", "films more than series", "films rather than series",
		"not series", "pas de séries", "Je n'aime pas les séries", "I never watch TV", "no series, only movies",
		"Je préfère largement les films aux séries", "Je préfère le film à la série", "TV movies", "instead of shows I watch movies",
		"Les séries m'agacent", "series bore me", "Séries ? Non. Films !", "plutôt B que A", "Plutôt B", "je dirais B",
		"pas seulement les films", "Je regarde moins de séries que de films", "both but more films", "pourquoi pas un film",
		"Les films, car les séries sont trop longues", "les séries me fatiguent, un film c'est mieux", "Je suis cinéphile", "the second", "2",
		"I don't have time for series, so films", "Séries non, films oui", "films oui, séries non", "movies over shows", "je regarde rarement des séries, surtout des films",
		"ni série ni... enfin si, un film", "less series than films", "Non\nfilms", "Because I love films", "j'aime les séries, les films surtout",
		"je ne suis pas quelqu'un qui passe des heures devant un écran donc films",
	},
	"": {
		"", "?", "les deux", "both", "films et séries", "series and films", "séries ou films", "A ou B", "A/B", "A and B", "ni l'un ni l'autre",
		"ni films ni séries", "neither movies nor series", "des livres", "I read books", "musique", "Je ne sais pas", "C. Les deux",
		"du film à la série, je regarde tout", "A. Film", "B. Série", "A) les films", "à voir", "Il y en a.", "AAAA", "\xf0\x28", "as many films as series", "oui", "abc",
		"films are like a mirror", "c'est quoi une série pour vous ?", "both equally", "un peu des deux", "films or series, I like both", "Des documentaires", "je ne regarde rien",
	},
}

// each calls check for each answer in several normalizations.
func (p phrasings) each(check func(text, want string)) {
	for want, texts := range p {
		for _, text := range texts {
			check(text, want)
			check(norm.NFD.String(text), want)
			check(" "+text+"\n", want)
		}
	}
}

var _ = Describe("The tone", func() {
	It("is read from letters and from words of both languages", func() {
		tones.each(func(text, want string) {
			got, ok := parseRegister(text)
			Expect(string(got)).To(Equal(want), "%q", text)
			Expect(ok).To(Equal(want != ""), "%q", text)
		})
	})
})

var _ = Describe("The medium", Label("I-06"), func() {
	It("is read from letters and from words of both languages", func() {
		mediums.each(func(text, want string) {
			got, ok := parseMedium(text)
			Expect(string(got)).To(Equal(want), "%q", text)
			Expect(ok).To(Equal(want != ""), "%q", text)
		})
	})
})
