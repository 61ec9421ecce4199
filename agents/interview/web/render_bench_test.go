package web

import (
	"html/template"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/llm"
)

// long returns an interview near its end: 90 messages of 600 bytes.
func long() interviewPage {
	p := interviewPage{Session: session.Session{
		ID: "abc", Language: session.French, Step: session.Block9, Phase: session.Asking, Shown: 90,
		Queue: &session.Queue{Step: session.Block9, Questions: []string{"a", "b", "c"}},
	}}
	for seq := range 90 {
		role := llm.User
		if seq%2 == 1 {
			role = llm.Assistant
		}
		p.Messages = append(p.Messages, session.Message{
			Seq: seq + 1, Role: role, Kind: session.KindQuestion, Step: session.Block9,
			Text: strings.Repeat("Ce qui me porte, c'est <la durée> : elle tient. ", 12) + "\nA. oui\nB. non",
		})
	}
	return p
}

func BenchmarkRender(b *testing.B) {
	p := long()
	b.ReportAllocs()
	for b.Loop() {
		out, err := p.render()
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(int64(len(out)))
	}
}

// BenchmarkFloorRender escapes the same texts and does nothing else.
func BenchmarkFloorRender(b *testing.B) {
	p := long()
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		for _, m := range p.Messages {
			n += len(template.HTMLEscapeString(m.Text))
		}
		b.SetBytes(int64(n))
	}
}
