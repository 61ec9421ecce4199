package lexicon_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rehearse-dev/rehearse/agents/stop/internal/lexicon"
	"github.com/rehearse-dev/rehearse/agents/stop/internal/text"
)

// phrases makes a list of about n phrases in both languages, in ten classes. The
// first words are common ones, so that many walks begin and few end.
func phrases(n int) string {
	starts := []string{
		"I will", "let me", "I'll", "next step(s)", "we still need to", "the remaining", "you may want to", "once (the|this) _ is",
		"je vais", "il reste à", "prochaine(s) étape(s)", "il faut encore", "la suite :?", "dès que", "n'oublie(z) pas de", "à faire ,?",
	}
	verbs := []string{
		"run", "test", "deploy", "write", "check", "fix", "finish", "publish", "document", "review", "merge", "update",
		"lancer", "tester", "déployer", "écrire", "vérifier", "corriger", "finir", "publier", "documenter", "relire", "fusionner",
	}
	var b strings.Builder
	for i := range n {
		if i%(n/10+1) == 0 {
			fmt.Fprintf(&b, "[class%d]\n", i)
		}
		start := strings.ReplaceAll(starts[i%len(starts)], " :?", "")
		fmt.Fprintf(&b, "%s (the|le)? %s _? w%d\n", start, verbs[i/len(starts)%len(verbs)], i/400)
		if i < len(starts) {
			fmt.Fprintf(&b, "%s\n", start)
		}
	}
	return b.String()
}

var page = "## Résumé des changements\n\nJ'ai corrigé le problème dans `src/app/server.go` : la connexion n'était jamais fermée après une erreur. " +
	"Les tests passent maintenant, et j'ai ajouté un cas pour la régression. Voir https://example.org/issues/42 pour le contexte.\n\n" +
	"- **Avant** : 12 échecs sur 340\n- **Après** : aucun échec\n  - la durée totale baisse de 8 %\n\n" +
	"### What changed\n\n1. The parser reads a line at a time, so a long answer no longer has to fit into memory.\n" +
	"2. Errors name the file and the line (see `internal/parse/error.go`).\n3. I removed the unused helper `tidyUp()`.\n\n" +
	"All checks are green. The documentation says how to turn the new behaviour off, and why you would rarely want to do so.\n\n" +
	"```go\nfunc Close(c io.Closer) error {\n\tif c == nil {\n\t\treturn nil\n\t}\n\treturn c.Close()\n}\n```\n\n" +
	"| Étape | État |\n|---|---|\n| Analyse | terminée |\n| Déploiement | en attente |\n\n" +
	"Il reste à vérifier la compatibilité avec l’ancienne version, puis à publier. Let me know if you would like me to go on with that. " +
	"The “next steps” section of the guide is unchanged.\n\n---\n\n"

func each(b *testing.B, run func(b *testing.B, s string)) {
	for _, size := range []int{1 << 10, 10 << 10, 100 << 10, 1 << 20, 10 << 20} {
		b.Run(fmt.Sprintf("%dKB", size>>10), func(b *testing.B) {
			s := strings.Repeat(page, size/len(page)+1)[:size]
			for !utf8.ValidString(s) {
				s = s[:len(s)-1]
			}
			b.SetBytes(int64(len(s)))
			b.ReportAllocs()
			run(b, s)
		})
	}
}

func benchmarked(b *testing.B) *lexicon.Lexicon {
	b.Helper()
	l, err := lexicon.Compile(lexicon.Source{Name: "x", Text: phrases(1400)})
	if err != nil {
		b.Fatal(err)
	}
	return l
}

// BenchmarkFloorValid is what the standard library takes to look at each byte.
func BenchmarkFloorValid(b *testing.B) {
	each(b, func(b *testing.B, s string) {
		for b.Loop() {
			if !utf8.ValidString(s) {
				b.Fatal("the text is not valid")
			}
		}
	})
}

// BenchmarkScanText folds, finds words and phrases in the raw text.
func BenchmarkScanText(b *testing.B) {
	l := benchmarked(b)
	each(b, func(b *testing.B, s string) {
		r := text.NewReader(l.Vocabulary())
		hits := l.ScanText(r, s, nil)
		if len(hits) == 0 {
			b.Fatal("nothing was found")
		}
		for b.Loop() {
			hits = l.ScanText(r, s, hits[:0])
		}
	})
}

// BenchmarkReadAndScan reads the structure and finds the phrases of sentences.
func BenchmarkReadAndScan(b *testing.B) {
	l := benchmarked(b)
	each(b, func(b *testing.B, s string) {
		r := text.NewReader(l.Vocabulary())
		hits := l.Scan(r.Read(s), nil)
		for b.Loop() {
			hits = l.Scan(r.Read(s), hits[:0])
		}
	})
}

func BenchmarkCompile(b *testing.B) {
	source := lexicon.Source{Name: "x", Text: phrases(1400)}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := lexicon.Compile(source); err != nil {
			b.Fatal(err)
		}
	}
}
