package prompt_test

import (
	"flag"
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/interview/prompt"
	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/llm"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestPrompt(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "agents/interview/prompt")
}

func load(l session.Language) *prompt.Set {
	GinkgoHelper()
	set, err := prompt.Load(l)
	Expect(err).NotTo(HaveOccurred())
	return set
}

// owing returns a session that owes a message.
func owing(step session.Step, purpose session.Purpose, index int) session.Session {
	return session.Session{
		Candidate: "c1", Language: session.French, Step: step, Phase: session.Owing,
		Register: session.Informal, Medium: session.Series,
		Works: []string{"Dark", "Lost", "The Wire"}, CoreWork: "Dark",
		Owed: &session.Owed{Purpose: purpose, Index: index},
	}
}

// script is a history in the making.
type script []session.Message

func (s *script) add(role llm.Role, kind session.Kind, step session.Step, question int, text string) {
	*s = append(*s, session.Message{
		Seq: len(*s) + 1, Role: role, Kind: kind, Step: step, Question: question, Text: text,
		Tokens: len(strings.Fields(text)),
	})
}

// exchange adds a question and its answer.
func (s *script) exchange(kind session.Kind, step session.Step, question int, asked, answered string) {
	s.add(llm.Assistant, kind, step, question, asked)
	s.add(llm.User, kind, step, question, answered)
}

// opening adds all messages before the first block.
func (s *script) opening() {
	s.exchange(session.KindOther, session.Identity, session.NoQuestion, "Name?", "Léa")
	s.exchange(session.KindTone, session.Tone, session.NoQuestion, "Tone?", "tu")
	s.add(llm.Assistant, session.KindPreamble, session.Preamble, session.NoQuestion, "Welcome.")
}

// block adds a block with a number of questions, and its mirror with a comment.
func (s *script) block(step session.Step, questions int) {
	for q := range questions {
		s.exchange(session.KindQuestion, step, q, string(step)+" question", string(step)+" answer")
	}
	if step != session.Block2A {
		s.exchange(session.KindMirror, step, session.NoQuestion, string(step)+" mirror", string(step)+" comment")
	}
}

// until returns the history of an interview whose steps before the given one are over.
func until(step session.Step) []session.Message {
	var s script
	s.opening()
	for _, at := range session.Steps() {
		switch {
		case at == step:
			return s
		case at == session.Block2B:
			s.block(at, 9)
		case at == session.Block10:
			s.add(llm.Assistant, session.KindOther, at, session.NoQuestion, "Profile.")
		case at.Block() > 0:
			s.block(at, 3)
		}
	}
	return s
}
