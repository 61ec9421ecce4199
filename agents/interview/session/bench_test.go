package session

import (
	"strings"
	"testing"
	"unicode/utf8"
)

var decoded int

// BenchmarkParse reads the longest answers that are taken, full of words that
// matter; the floor decodes them.
func BenchmarkParse(b *testing.B) {
	long := func(s string) string { return strings.Repeat(s, 64<<10/len(s)) }
	hostile := map[string]string{
		"prose":     long("Je préfère de loin les séries aux films, parce que l'on y reste plus longtemps. "),
		"negations": "plutôt films " + long("pas plus que "), "quotes": long(`"«“`), "commas": long("et Dark, "), "points": long("1. a\n"),
	}
	works := []string{"Game of Thrones", "Breaking Bad", "The Office"}
	parsers := map[string]func(string){
		"floor": func(s string) { decoded = utf8.RuneCountInString(s) }, "register": func(s string) { parseRegister(s) },
		"medium": func(s string) { parseMedium(s) }, "works": func(s string) { ParseWorks(s) },
		"core": func(s string) { parseCore(s, works) },
	}
	for _, parser := range []string{"floor", "register", "medium", "works", "core"} {
		for _, text := range []string{"prose", "negations", "quotes", "commas", "points"} {
			b.Run(parser+"/"+text, func(b *testing.B) {
				b.SetBytes(int64(len(hostile[text])))
				for b.Loop() {
					parsers[parser](hostile[text])
				}
			})
		}
	}
}

// BenchmarkChoice reads an answer about the core work as candidates write them.
func BenchmarkChoice(b *testing.B) {
	works := []string{"Better Call Saul", "Le Bureau des légendes", "The Bear"}
	const answer = "Better Call Saul. Je l'ai regardée deux fois en entier, et la deuxième fois j'ai trouvé que ce n'était pas du tout " +
		"la même histoire. La première fois je suivais Jimmy, la deuxième je ne regardais plus que Kim."
	b.ReportAllocs()
	for b.Loop() {
		parseCore(answer, works)
	}
}
