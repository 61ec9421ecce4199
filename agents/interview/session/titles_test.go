package session_test

import (
	"fmt"
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
)

// spellings are what a candidate wrote and the title as a model writes it.
var spellings = [][2]string{
	{"Braking Bad", "Breaking Bad"},
	{"breking bad", "Breaking Bad"},
	{"BreakingBad", "Breaking Bad"},
	{"breaking bad saison 1", "Breaking Bad"},
	{"BB", "Breaking Bad"},
	{"Game of throne", "Game of Thrones"},
	{"Gaem of trones", "Game of Thrones"},
	{"GoT", "Game of Thrones"},
	{"got", "Game of Thrones"},
	{"Game of Thrones", "GoT"},
	{"LOTR", "The Lord of the Rings"},
	{"lord of the ring", "The Lord of the Rings"},
	{"Le Seigneur des anneaux 1 2 et 3", "Le Seigneur des anneaux"},
	{"seigneur des aneaux", "Le Seigneur des anneaux"},
	{"le seigneur des anneaux les deux tours", "Le Seigneur des anneaux"},
	{"La saga Harry Poter", "Harry Potter"},
	{"Harry Potter et la coupe de feu", "Harry Potter"},
	{"HIMYM", "How I Met Your Mother"},
	{"how i meet your mother", "How I Met Your Mother"},
	{"TWD", "The Walking Dead"},
	{"walkindead", "The Walking Dead"},
	{"strangers things", "Stranger Things"},
	{"Stranger Thing S4", "Stranger Things"},
	{"Kamelot", "Kaamelott"},
	{"intouchable", "Intouchables"},
	{"La casa del papel", "La Casa de Papel"},
	{"Peeky Blinders", "Peaky Blinders"},
	{"sherlok", "Sherlock"},
	{"Interstelar", "Interstellar"},
	{"Incepcion", "Inception"},
	{"spiderman", "Spider-Man"},
	{"Toy story 1, 2 et 3", "Toy Story"},
	{"Star Wars IV, V et VI", "Star Wars"},
	{"tous les star wars", "Star Wars"},
	{"mission impossible rogue nation", "Mission: Impossible"},
	{"ocean's 11", "Ocean's Eleven"},
	{"B99", "Brooklyn Nine-Nine"},
	{"friend", "Friends"},
	{"Le fabuleux destin d'amelie poulin", "Le Fabuleux Destin d'Amélie Poulain"},
	{"le diner de con", "Le Dîner de cons"},
	{"Shinning", "Shining"},
	{"gladiateur", "Gladiator"},
	{"Forest Gump", "Forrest Gump"},
	{"Schindlers list", "Schindler's List"},
	{"Prision Break", "Prison Break"},
	{"Bridgerton la série", "Bridgerton"},
	{"asterix et obelix mission cleopatre", "Astérix & Obélix : Mission Cléopâtre"},
	{"12 hommes en colere", "12 Hommes en colère"},
	{"phillip morris", "Philip Morris"},
	{"Downtown Abbey", "Downton Abbey"},
	{"the office us", "The Office"},
	{"Greys anatomy", "Grey's Anatomy"},
	{"reply nineteen eighty eight", "Reply 1988"},
	{"star wars 3", "Star Wars, épisode III : La Revanche des Sith"},
}

// strangers are titles of different works that look alike.
var strangers = [][2]string{
	{"Heat", "Her"},
	{"Lost", "Last"},
	{"Dark", "Dork"},
	{"Mad Men", "Mad Max"},
	{"Star Wars", "Star Trek"},
	{"The Good Wife", "The Good Life"},
	{"The Good Place", "The Good Doctor"},
	{"Breaking Bad", "Breaking Dawn"},
	{"Prison Break", "Point Break"},
	{"Joker", "Poker"},
	{"Fargo", "Cargo"},
	{"Titanic", "Titane"},
	{"Inception", "Deception"},
	{"Inception", "Interception"},
	{"Avatar", "Aviator"},
	{"The Crown", "The Crow"},
	{"The Wire", "The Fire"},
	{"Le Silence des agneaux", "Le Seigneur des anneaux"},
	{"Ant-Man", "Batman"},
	{"Superman", "Spider-Man"},
	{"Iron Man", "Iron Fist"},
	{"Bad Boys", "Bad Guys"},
	{"American Psycho", "American Pie"},
	{"La Haine", "La Hyène"},
	{"Apollo 13", "Apollo 18"},
	{"Ocean's 11", "Ocean's Twelve"},
	{"District 9", "District 13"},
	{"24", "1917"},
	{"House", "Mouse"},
	{"Skyfall", "Skylab"},
	{"Rocky", "Rambo"},
	{"Saw", "Paw"},
	{"Casino Royale", "Casino"},
	{"Les Invisibles", "Les Intouchables"},
	{"Toy Story 1, 2 et 3", "Toy Story 4"},
	{"Transformers", "Transporter"},
	{"Friends", "Fringe"},
	{"Black Mirror", "Black Swan"},
	{"Le Roi Lion", "Le Roi Arthur"},
	{"GoT", "Grace of Monaco"},
	{"Dune", "Dunkirk"},
	{"Up", "Us"},
	{"The Last of Us", "The Last Kingdom"},
}

// others are different works whose titles are told apart in quotes, as a whole.
var others = [][2]string{
	{"Le Parrain II", "Le Parrain"},
	{"Inside Out 2", "Inside Out"},
	{"Heat", "The Heat"},
	{"suicide squad 2016", "The Suicide Squad"},
	{"psycho (hitchcock)", "Psycho (1998)"},
	{"hunger games 1", "Hunger Games : L'Embrasement"},
}

// The sentences around a title, as models write them.
var around = []string{
	"Dans %s, quel personnage te reste en tête ?",
	"Qu'est-ce qui vous attire dans « %s » ?",
	"What draws you to %s, and to whom in it?",
}

var _ = Describe("A title", func() {
	It("is found however a candidate spelled it", func() {
		for _, pair := range spellings {
			for _, frame := range around {
				text := fmt.Sprintf(frame, pair[1])
				Expect(session.NewTitles(pair[:1]).Find(text)).NotTo(BeEmpty(), "%q in %q", pair[0], text)
			}
		}
	})

	It("is distinguished from similar titles", func() {
		for _, pair := range strangers {
			for _, frame := range around {
				text := fmt.Sprintf(frame, pair[1])
				Expect(session.NewTitles(pair[:1]).Find(text)).To(BeEmpty(), "%q in %q", pair[0], text)
			}
		}
	})

	It("is distinguished from other parts and other films with the same title", func() {
		for _, pair := range others {
			Expect(session.NewTitles(pair[:1]).Find("Dans « "+pair[1]+" », qui ?")).To(BeEmpty(), "%q and %q", pair[0], pair[1])
		}
	})

	It("is not found in sentences without one", func() {
		var all []string
		for _, pair := range spellings {
			all = append(all, pair[0])
		}
		text := "Bravo, ces histoires te ressemblent. Quel moment, vécu au travail, te revient ? Bonne question ? " +
			"À 12 ans, qui voulais-tu devenir ? B. Dans une équipe de 9 personnes, où te places-tu ?"
		for from := 0; from < len(all); from += 12 {
			Expect(session.NewTitles(all[from:min(len(all), from+12)]).Find(text)).To(BeEmpty())
		}
	})

	It("is found at its place", func() {
		text := "Dans Breaking Bad, ou « Game of Thrones » ?"
		spans := session.NewTitles([]string{"GoT", "Braking bad"}).Find(text)
		Expect(spans).To(HaveLen(2))
		Expect(text[spans[0].Start:spans[0].End]).To(Equal("Breaking Bad"))
		Expect(text[spans[1].Start:spans[1].End]).To(Equal("Game of Thrones"))
		Expect([]int{spans[0].Work, spans[1].Work}).To(Equal([]int{1, 0}))
	})

	DescribeTable("may stand for several works", func(name string, several bool) {
		Expect(session.NewTitles([]string{name}).Missing(nil)).To(HaveLen(map[bool]int{true: 0, false: 1}[several]))
	},
		Entry("les films de Tarantino", "les films de Tarantino", true),
		Entry("tous les Marvel", "tous les Marvel", true),
		Entry("movies with Tom Hanks", "movies with Tom Hanks", true),
		Entry("La saga Harry Potter", "La saga Harry Potter", false),
		Entry("Les films", "Les films", false),
		Entry("Breaking Bad", "Breaking Bad", false),
	)

	It("is matched by an answer in lower case", func() {
		x := session.NewTitles([]string{"Breaking Bad", "Game of Thrones"})
		for answer, want := range map[string]int{"breking bad": 0, "got": 1, "Game of throne": 1} {
			work, ok := x.Match(answer)
			Expect(ok).To(BeTrue(), answer)
			Expect(work).To(Equal(want), answer)
		}
		_, ok := x.Match("Alien")
		Expect(ok).To(BeFalse())
	})
})

func FuzzFind(f *testing.F) {
	f.Add("Braking Bad", "Dans « Breaking Bad », 1 2 et 3 ?")
	f.Add("é\xff", "E\u0301 \xff")
	f.Fuzz(func(t *testing.T, name, text string) {
		x := session.NewTitles([]string{name, strings.ToUpper(name)})
		x.Match(text)
		at := 0
		for _, s := range x.Find(text) {
			if s.Start < at || s.End <= s.Start || s.End > len(text) {
				t.Fatalf("%q in %q: %+v", name, text, s)
			}
			at = s.End
		}
	})
}

func BenchmarkFind(b *testing.B) {
	x := session.NewTitles([]string{"Braking Bad", "GoT", "seigneur des aneaux", "Toy story 1, 2 et 3", "les films de Tarantino"})
	text := strings.Repeat("Dans Le Bureau des légendes, Malotru et Marie-Jeanne pèsent ce que coûte une décision. ", 100)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		x.Find(text)
	}
}
