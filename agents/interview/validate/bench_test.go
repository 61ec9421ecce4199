package validate_test

import (
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/agents/interview/validate"
	"github.com/rehearse-dev/rehearse/fixtures"
	"github.com/rehearse-dev/rehearse/internal/textfold"
)

var sizes = []int{10 << 10, 1 << 20}

func filled(unit string, size int) string { return strings.Repeat(unit, size/len(unit)+1)[:size] }

// page is prose of an interview, in both languages.
const page = "Tu avances quand le défi est net et que la progression se voit ; l'équipe le sent, et le client aussi. " +
	"You stay calm under pressure, and people notice. Marie-Jeanne te ressemble, dans la durée : elle vérifie, encore.\n\n"

func each(b *testing.B, unit string, run func(text string)) {
	for _, size := range sizes {
		b.Run(fmt.Sprintf("%dKB", size>>10), func(b *testing.B) {
			text := filled(unit, size)
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				run(text)
			}
		})
	}
}

// BenchmarkFloorFields measures how long the standard library takes to split the words.
func BenchmarkFloorFields(b *testing.B) { each(b, page, func(s string) { strings.Fields(s) }) }

func BenchmarkWords(b *testing.B) { each(b, page, func(s string) { textfold.Count(s) }) }

// BenchmarkCheck validates texts of each kind, good and bad.
func BenchmarkCheck(b *testing.B) {
	for _, c := range []struct {
		name string
		want validate.Expected
		unit string
	}{
		{"preamble", preamble, page},
		{"questions", batchOf2B, about2B + "\n" + separator + "\n"},
		{"adaptive", validate.Expected{Purpose: session.PurposeAdaptive, Index: 1, Medium: session.Film}, page},
		{"mirror", mirrorOf1, good + "\n"},
		{"mirror2B", mirrorOf2B, projectiveMirror + "\n"},
		{"profile", profile, strings.Join(portrait, "\n")},
		{"matching", matching, verdict + "\n"},
	} {
		b.Run(c.name, func(b *testing.B) {
			each(b, c.unit, func(s string) { validate.Check(s, c.want) })
		})
	}
}

// BenchmarkHostile validates long texts as the kind with the most work for them: time
// must stay linear.
func BenchmarkHostile(b *testing.B) {
	for _, c := range []struct {
		name string
		want validate.Expected
		unit string
	}{
		{"quotation marks", batchOf3, "« \" “ "},
		{"question marks", batchOf3, "? "},
		{"options", batchOf3, "A. a\n"},
		{"packed options", batchOf3, "A. B. "},
		{"separators", batchOf3, separator + "\n"},
		{"headings", mirrorOf1, "1️⃣\n"},
		{"statuses", matching, "🟢\n"},
		{"titles", batchOf2B, "Breaking Bad "},
		{"half titles", batchOf2B, "Bureau des "},
		{"zones", preamble, "religion "},
		{"exceptions", preamble, "foi dans ta foi en "},
		{"hyphens", preamble, "a-"},
		{"zero width", preamble, "a\u200b"},
		{"marks", preamble, "e\u0301"},
		{"one word", preamble, "a"},
		{"parentheses", mirrorOf1, "1️⃣ Lecture implicite ("},
		{"not UTF-8", preamble, "\xff"},
	} {
		b.Run(c.name, func(b *testing.B) {
			each(b, c.unit, func(s string) { validate.Check(s, c.want) })
		})
	}
}

// BenchmarkInterview checks all replies of one interview, as a good model writes
// them.
func BenchmarkInterview(b *testing.B) {
	type reply struct {
		purpose, step, text string
		index               int
	}
	files, err := fs.Glob(fixtures.Replies, "replies/lea/*.md")
	if err != nil {
		b.Fatal(err)
	}
	var replies []reply
	size := 0
	for _, file := range files {
		data, err := fixtures.Replies.ReadFile(file)
		if err != nil {
			b.Fatal(err)
		}
		r := reply{text: string(data)}
		r.purpose, r.step, _ = strings.Cut(strings.TrimSuffix(path.Base(file), ".md"), "-")
		r.index, _ = strconv.Atoi(r.step) // of an adaptive question
		replies, size = append(replies, r), size+len(data)
	}
	b.Run("floor", func(b *testing.B) {
		b.SetBytes(int64(size))
		for b.Loop() {
			for _, r := range replies {
				strings.Fields(r.text)
			}
		}
	})
	b.Run("check", func(b *testing.B) {
		b.SetBytes(int64(size))
		b.ReportAllocs()
		for b.Loop() {
			for _, r := range replies {
				validate.Check(r.text, validate.Expected{
					Purpose: session.Purpose(r.purpose), Step: session.Step(r.step), Index: r.index, Language: session.French, Medium: session.Series,
					Works: []string{"Better Call Saul", "Le Bureau des légendes", "The Bear"},
				})
			}
		}
	})
}
