package text_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rehearse-dev/rehearse/agents/stop/internal/text"
)

// pages are parts of an answer as agents write them, in both languages.
var pages = []string{
	"## Résumé des changements\n\nJ'ai corrigé le problème dans `src/app/server.go` : la connexion n'était jamais fermée après une erreur. " +
		"Les tests passent maintenant, et j'ai ajouté un cas pour la régression. Voir https://example.org/issues/42 pour le contexte.\n\n" +
		"- **Avant** : 12 échecs sur 340\n- **Après** : aucun échec\n  - la durée totale baisse de 8 %\n\n",
	"### What changed\n\n1. The parser reads a line at a time, so a long answer no longer has to fit into memory.\n" +
		"2. Errors name the file and the line (see `internal/parse/error.go`).\n3. I removed the unused helper `tidyUp()`.\n\n" +
		"All checks are green. The documentation says how to turn the new behaviour off, and why you would rarely want to do so.\n\n",
	"```go\nfunc Close(c io.Closer) error {\n\tif c == nil {\n\t\treturn nil\n\t}\n\treturn c.Close()\n}\n```\n\n",
	"| Étape | État |\n|---|---|\n| Analyse | terminée |\n| Déploiement | en attente |\n\n",
	"Il reste à vérifier la compatibilité avec l’ancienne version, puis à publier. Let me know if you would like me to go on with that. " +
		"The “next steps” section of the guide is unchanged.\n\n---\n\n",
}

// answer returns a text of the size in bytes, cut at a character.
func answer(size int) string {
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		b.WriteString(pages[i%len(pages)])
	}
	s := b.String()[:size]
	for !utf8.ValidString(s) {
		s = s[:len(s)-1]
	}
	return s
}

var sizes = []int{1 << 10, 10 << 10, 100 << 10, 1 << 20, 10 << 20}

func each(b *testing.B, run func(b *testing.B, s string)) {
	for _, size := range sizes {
		b.Run(fmt.Sprintf("%dKB", size>>10), func(b *testing.B) {
			s := answer(size)
			b.SetBytes(int64(len(s)))
			b.ReportAllocs()
			run(b, s)
		})
	}
}

// BenchmarkFloorValid measures how long the standard library takes to look at each byte.
func BenchmarkFloorValid(b *testing.B) {
	each(b, func(b *testing.B, s string) {
		for b.Loop() {
			if !utf8.ValidString(s) {
				b.Fatal("the text is not valid")
			}
		}
	})
}

// BenchmarkFloorBytes measures a loop that branches on each byte.
func BenchmarkFloorBytes(b *testing.B) {
	each(b, func(b *testing.B, s string) {
		lines := 0
		for b.Loop() {
			for i := range len(s) {
				if s[i] == '\n' {
					lines++
				}
			}
		}
	})
}

func BenchmarkRead(b *testing.B) {
	each(b, func(b *testing.B, s string) {
		var r text.Reader
		r.Read(s)
		for b.Loop() {
			r.Read(s)
		}
	})
}
