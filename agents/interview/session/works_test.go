package session

import (
	"strings"
	"unicode/utf8"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"golang.org/x/text/unicode/norm"
)

// namings lists answers with the works that they name, by "|".
var namings = [][2]string{
	{"Breaking Bad, Game of Thrones, The Office", "Breaking Bad|Game of Thrones|The Office"},
	{"Breaking Bad, Game of Thrones et The Office", "Breaking Bad|Game of Thrones|The Office"},
	{"Breaking Bad, Game of Thrones, and The Office.", "Breaking Bad|Game of Thrones|The Office"},
	{"breaking bad, game of thrones, the office", "breaking bad|game of thrones|the office"},
	{"dark et lost", "dark|lost"},
	{"Dark, Lost, Tom et Jerry", "Dark|Lost|Tom et Jerry"},
	{"Dark; Lost; Pride and Prejudice", "Dark|Lost|Pride and Prejudice"},
	{"Dark\nLost\nTom et Jerry", "Dark|Lost|Tom et Jerry"},
	{"Dark\r\n\r\nTom et Jerry", "Dark|Tom et Jerry"},
	{"1. Dark\n2. Lost\n3. Fargo", "Dark|Lost|Fargo"},
	{"1) Dark, pour l'ambiance\n2) Lost\n3) Tom et Jerry", "Dark|Lost|Tom et Jerry"},
	{"#3 - Dark\n#2 - Lost\n#1 - Fargo", "Dark|Lost|Fargo"},
	{"1. Dark 2. Lost 3. Fargo", "Dark|Lost|Fargo"},
	{"Alors : 1) Dark, 2) Lost et 3) Fargo", "Dark|Lost|Fargo"},
	{"- Dark\n- Lost\n- Fargo\n\nVoilà !", "Dark|Lost|Fargo"},
	{"Voici :\n* Dark\n* Lost", "Dark|Lost"},
	{"• Dark\n• Lost", "Dark|Lost"},
	{"A. Dark\nB. Lost\nC. Fargo", "Dark|Lost|Fargo"},
	{"24, 1917, 1899", "24|1917|1899"},
	{"Dark / Lost / Fargo", "Dark|Lost|Fargo"},
	{"Dark + Lost + Fargo", "Dark|Lost|Fargo"},
	{"Dark | Lost | Fargo", "Dark|Lost|Fargo"},
	{"« Dark », « Lost » et « Le Bon, la Brute et le Truand »", "Dark|Lost|Le Bon, la Brute et le Truand"},
	{`I'd say "Dark", "Lost" and "Tom and Jerry"`, "Dark|Lost|Tom and Jerry"},
	{"J'adore “Dark” et « Tom et Jerry »", "Dark|Tom et Jerry"},
	{"Breaking Bad (pour Walter), Dark (2017), Lost", "Breaking Bad|Dark|Lost"},
	{"Breaking Bad - la chute d'un homme\nDark — le temps\nLost : l'île", "Breaking Bad|Dark|Lost"},
	{"Breaking Bad parce que Walter me fascine", "Breaking Bad"},
	{"Breaking Bad, parce que Walter et Jesse me fascinent", "Breaking Bad"},
	{"Breaking Bad. Walter White est fascinant et tragique.", "Breaking Bad"},
	{"Mr. Robot, Dr. House, S.W.A.T.", "Mr. Robot|Dr. House|S.W.A.T"},
	{"Mission: Impossible, Alien : Romulus, Spider-Man", "Mission: Impossible|Alien : Romulus|Spider-Man"},
	{"J'adore Breaking Bad, Game of Thrones et The Office", "Breaking Bad|Game of Thrones|The Office"},
	{"Mes séries préférées sont Dark, Lost et Fargo.", "Dark|Lost|Fargo"},
	{"Mes préférées : Dark, Lost, Fargo", "Dark|Lost|Fargo"},
	{"Alors mes trois séries préférées :\nDark, Lost, Fargo", "Dark|Lost|Fargo"},
	{"My favourite shows are Dark, Lost and Fargo, in that order", "Dark|Lost|Fargo"},
	{"I love Succession, then maybe Severance, and I Love Lucy", "Succession|Severance|I Love Lucy"},
	{"Alors Dark, puis Lost", "Dark|Lost"},
	{"Alors je dirais Breaking Bad, The Wire et puis Friends", "Breaking Bad|The Wire|Friends"},
	{"Ce serait Breaking Bad, Dark, et Fargo je pense", "Breaking Bad|Dark|Fargo"},
	{"En 1 Breaking Bad, en 2 Dark, en 3 Lost", "Breaking Bad|Dark|Lost"},
	{"1- Breaking Bad 2- Dark 3- Lost", "Breaking Bad|Dark|Lost"},
	{"1/ Breaking Bad\n2/ Dark\n3/ Lost", "Breaking Bad|Dark|Lost"},
	{"Top 3 : Inception, Heat, The Prestige", "Inception|Heat|The Prestige"},
	{"I really like Inception and Heat", "Inception|Heat"},
	{"Inception - Heat - The Prestige", "Inception|Heat|The Prestige"},
	{"Inception & Heat", "Inception|Heat"},
	{"Le Seigneur des anneaux 1 2 et 3", "Le Seigneur des anneaux 1 2 et 3"},
	{"Toy Story 1, 2 et 3, Heat", "Toy Story 1, 2 et 3|Heat"},
	{"Star Wars IV, V et VI, 24, 1917", "Star Wars IV, V et VI|24|1917"},
	{"Die Hard 1 and 2", "Die Hard 1 and 2"},
	{"Rocky 3, 24, Heat", "Rocky 3|24|Heat"},
	{"Alien 1 & 2 et Heat", "Alien 1 & 2|Heat"},
	{"les films de Tarantino", "les films de Tarantino"},
	{"les films de Tarantino, Heat et Alien", "les films de Tarantino|Heat|Alien"},
	{"j'aime tous les films de Tarantino et Heat", "tous les films de Tarantino|Heat"},
	{"j'aime dark et heat", "dark|heat"},
	{"Le Parrain, Le Parrain 2, Le Parrain 3", "Le Parrain|Le Parrain 2|Le Parrain 3"},
	{"Friends, bien évidemment, The Office (US) et Brooklyn Nine-Nine", "Friends|The Office|Brooklyn Nine-Nine"},
	{"J'ai adoré Dark. J'ai aussi aimé Lost. Et enfin Fargo.", "Dark|Lost|Fargo"},
	{"Dark. Lost. Fargo.", "Dark|Lost|Fargo"},
	{"Un seul : Heat", "Heat"},
	{"Dark. The plot is the best of all the plots. Lost.", "Dark|Lost"},
	{"Dark. Great show.", "Dark"},
	{"My favourites: The Martian because of the humour, Jerry Maguire for the heart, Whiplash for the drive", "The Martian|Jerry Maguire|Whiplash"},
	{"9-1-1\n24\n1917", "9-1-1|24|1917"},
	{"Hmm, Dark, bien sûr, et Lost", "Dark|Lost"},
	{"d'abord Dark, ensuite Lost, enfin Fargo", "Dark|Lost|Fargo"},
	{"First Man, Then Came You, And Then There Were None", "First Man|Then Came You|And Then There Were None"},
	{"Requiem for a Dream, Pour une poignée de dollars", "Requiem for a Dream|Pour une poignée de dollars"},
	{"(500) Days of Summer, Lost (la saison 1), [REC]", "(500) Days of Summer|Lost|[REC]"},
	{"Amélie Poulain, AMELIE POULAIN, Dark", "Amélie Poulain|Dark"},
	{"a, b, c, d, e, f, g", "a|b|c|d|e|f|g"[:9]},
	{"Les histoires de famille compliquées", "Les histoires de famille compliquées"},
	{"J'aime les films d'action et de suspense", "les films d'action et de suspense"},
	{"Je regarde un peu de tout sans vraiment de titre qui me vienne en tête maintenant", ""},
	{"Dark", "Dark"},
	{"**Dark**, _Lost_", "Dark|Lost"},
	{"friends himym the office", "friends|himym|the office"},
	{"en ce moment je regarde severance c'est top", "severance"},
	{"never got into GoT, I'm more of a Doctor Who person", "Doctor Who"},
	{"j'aime pas Titanic, par contre Avatar oui", "Avatar"},
	{"les films de Nolan (Interstellar, Tenet)", "Interstellar|Tenet"},
	{"Dune (Dark)", "Dune"},
	{"zombie, dawn of the dead and rio", "zombie|dawn of the dead|rio"},
	{"I have no favourites, sorry", ""},
	{"pas d'avis", ""},
	{"rien", ""},
	{"Aucune.", ""},
	{"Je ne sais pas", ""},
	{"none", ""},
	{"I don't know", ""},
	{"?", ""},
	{"", ""},
	{" ,;, \n", ""},
	{"\x00\xff\xfe", ""},
	{"Dark\x1b[31m, Lost\x00", "Dark|Lost"},
	{"\u202eDark", "Dark"},
}

var _ = Describe("The works", Label("I-06"), func() {
	It("are read from lists and sentences of both languages", func() {
		for _, c := range namings {
			for _, text := range []string{c[0], norm.NFD.String(c[0]), "  " + c[0] + "\n"} {
				got := norm.NFC.String(strings.Join(ParseWorks(text), "|"))
				Expect(got).To(Equal(c[1]), "%q", text)
			}
		}
	})

	It("are five at most, of 120 runes at most", func() {
		works := ParseWorks(strings.Repeat(strings.Repeat("é", 500)+"\nx\ny\nz\n", 3))
		Expect(works).To(HaveLen(4)) // each once
		Expect(utf8.RuneCountInString(works[0])).To(Equal(120))
		Expect(ParseWorks(strings.Repeat("word ", 50_000))).To(HaveLen(1))
	})
})

var _ = DescribeTable("The core work", func(text, want string) {
	works := []string{"Breaking Bad", "Le Seigneur des Anneaux", "Game of Thrones", "First Man"}
	Expect(parseCore(text, works)).To(Equal(want))
	Expect(parseCore(norm.NFD.String(text), works)).To(Equal(want))
},
	Entry("its title", "Breaking Bad", "Breaking Bad"),
	Entry("in a sentence", "Sans hésiter, BREAKING BAD parce que Walter", "Breaking Bad"),
	Entry("in another case", "le seigneur des anneaux, pour Sam", "Le Seigneur des Anneaux"),
	Entry("without any article", "Seigneur des anneaux", "Le Seigneur des Anneaux"),
	Entry("preferred to another", "Game of Thrones plutôt que Breaking Bad", "Game of Thrones"),
	Entry("preferred at last", "Breaking Bad est génial mais je préfère Game of Thrones", "Game of Thrones"),
	Entry("another one rejected", "Pas Breaking Bad, Game of Thrones", "Game of Thrones"),
	Entry("by its place", "le premier", "Breaking Bad"),
	Entry("by its place in English", "the second one", "Le Seigneur des Anneaux"),
	Entry("by a longer word of place", "La troisième, sans hésiter", "Game of Thrones"),
	Entry("the last", "the last one", "First Man"),
	Entry("by its number", "numéro 2", "Le Seigneur des Anneaux"),
	Entry("by a bare number", "3", "Game of Thrones"),
	Entry("by a bare number with a sign", "#1", "Breaking Bad"),
	Entry("a title that is a place too", "First Man", "First Man"),
	Entry("no place but a time", "La première fois que j'ai vu Alien", "La première fois que j'ai vu Alien"),
	Entry("an invalid place", "le cinquième", "le cinquième"),
	Entry("another work", "Je dirais Alien, pour Ripley", "Alien"),
	Entry("another work in quotes", "Finalement « Alien »", "Alien"),
	Entry("misspelled", "Braking bad, pour Walter", "Breaking Bad"),
	Entry("as initials", "got", "Game of Thrones"),
	Entry("a near title of another work", "Breaking Dawn", "Breaking Dawn"),
	Entry("nothing", "?", "?"),
)

var _ = Describe("The core work", func() {
	It("may be called as an article is", func() {
		Expect(parseCore("Pas Dark, Une", []string{"Dark", "Une"})).To(Equal("Une"))
	})

	It("is the longest of the titles that fit", func() {
		Expect(parseCore("Dark Matter", []string{"Dark Matter", "Dark"})).To(Equal("Dark Matter"))
	})

	It("is cut short where no work is named", func() {
		core := parseCore(strings.Repeat("très ", 20_000), nil)
		Expect(utf8.RuneCountInString(core)).To(Equal(120))
	})
})
