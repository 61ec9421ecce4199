package prompt_test

import (
	"fmt"
	"slices"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/agents/interview/prompt"
	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/llm"
)

// exchange identifies a question with its answer, or a mirror with its comment.
type exchange struct {
	step     session.Step
	kind     session.Kind
	question int
}

func exchangeOf(m session.Message) exchange { return exchange{m.Step, m.Kind, m.Question} }

// must reports whether a message is never omitted (I-12).
func must(m session.Message, at session.Step) bool {
	mirror := m.Kind == session.KindMirror
	matching := m.Kind == session.KindMatching
	profile := m.Step == session.Block10 && m.Kind == session.KindOther
	block2 := m.Kind == session.KindQuestion && (m.Step == session.Block2A || m.Step == session.Block2B)
	current := m.Kind == session.KindQuestion && m.Step.Block() == at.Block()
	return mirror || matching || profile || block2 || current
}

func tokens(messages []session.Message) int {
	sum := 0
	for _, m := range messages {
		sum += m.Tokens
	}
	return sum
}

// promises returns the first broken guarantee of Trim, or "". The limits are
// above 0 and every message is counted.
func promises(history []session.Message, at session.Step, limits prompt.Limits, selected prompt.Kept) string {
	if selected.Trimmed != len(history)-len(selected.Messages) || selected.Tokens != tokens(selected.Messages) {
		return "the numbers count the selected messages"
	}
	in := map[int]bool{}
	last := 0
	for _, m := range selected.Messages {
		if m.Seq <= last || m != history[m.Seq-1] {
			return "messages are selected unchanged, in order, once"
		}
		last, in[m.Seq] = m.Seq, true
	}
	whole := map[exchange]bool{}
	var dropped []session.Message // by size alone, the oldest first
	oldestFree := 0               // the oldest selected message that is not protected
	for i, m := range history {
		if included, seen := whole[exchangeOf(m)]; seen && included != in[m.Seq] {
			return "question and answer go together"
		}
		whole[exchangeOf(m)] = in[m.Seq]
		switch {
		case must(m, at):
			if !in[m.Seq] {
				return fmt.Sprintf("message %d must be selected", m.Seq)
			}
		case in[m.Seq] && i < len(history)-limits.Messages:
			return fmt.Sprintf("message %d is not among the last", m.Seq)
		case in[m.Seq] && oldestFree == 0:
			oldestFree = m.Seq
		case !in[m.Seq] && i >= len(history)-limits.Messages:
			dropped = append(dropped, m)
		}
	}
	return sizes(history, limits, selected, dropped, oldestFree)
}

// sizes returns the first broken guarantee about the limit in tokens, or "".
func sizes(
	history []session.Message, limits prompt.Limits, selected prompt.Kept, dropped []session.Message, oldestFree int,
) string {
	if selected.Over != (selected.Tokens > limits.Tokens) {
		return "Over reports whether the limit is exceeded"
	}
	if selected.Over && oldestFree > 0 {
		return "only protected messages exceed the limit"
	}
	if len(dropped) == 0 {
		return ""
	}
	newest := dropped[len(dropped)-1]
	if oldestFree > 0 && oldestFree < newest.Seq {
		return "the oldest messages are dropped first"
	}
	// One whose other half lies outside the last messages is left out for that.
	var back []session.Message
	for i, m := range history {
		if exchangeOf(m) != exchangeOf(newest) {
			continue
		}
		if i < len(history)-limits.Messages {
			return ""
		}
		back = append(back, m)
	}
	if selected.Tokens+tokens(back) <= limits.Tokens {
		return "nothing is left out that there is room for"
	}
	return ""
}

// histories draws an interview that has come to some step, with answers of all
// sizes and questions that were asked again.
func histories(t *rapid.T) ([]session.Message, session.Step) {
	at := rapid.SampledFrom(session.Steps()).Draw(t, "step")
	var s script
	// Mostly small, and now and then very large.
	size := rapid.Custom(func(t *rapid.T) int {
		if rapid.IntRange(0, 9).Draw(t, "large") == 0 {
			return rapid.IntRange(100, 20_000).Draw(t, "tokens")
		}
		return rapid.IntRange(1, 100).Draw(t, "tokens")
	})
	say := func(role llm.Role, kind session.Kind, step session.Step, question int) {
		s.add(role, kind, step, question, "text")
		s[len(s)-1].Tokens = size.Draw(t, "size")
	}
	for _, step := range session.Steps()[:slices.Index(session.Steps(), at)+1] {
		kind := session.KindQuestion
		switch step {
		case session.Identity, session.Block10:
			kind = session.KindOther
		case session.Tone:
			kind = session.KindTone
		case session.Preamble:
			kind = session.KindPreamble
		case session.Matching:
			kind = session.KindMatching
		default:
		}
		if kind != session.KindQuestion {
			say(llm.Assistant, kind, step, session.NoQuestion)
			if step.Block() == 0 && step != session.Preamble {
				say(llm.User, kind, step, session.NoQuestion)
			}
			continue
		}
		for q := range rapid.IntRange(0, 9).Draw(t, "questions") {
			for range rapid.IntRange(1, 3).Draw(t, "times asked") {
				say(llm.Assistant, kind, step, q)
				say(llm.User, kind, step, q)
			}
		}
		if step != session.Block2A && (step != at || rapid.Bool().Draw(t, "mirror")) {
			say(llm.Assistant, session.KindMirror, step, session.NoQuestion)
			if rapid.Bool().Draw(t, "comment") {
				say(llm.User, session.KindMirror, step, session.NoQuestion)
			}
		}
	}
	return s, at
}

var _ = Describe("Trim", Label("I-12"), func() {
	It("keeps its guarantees for any interview", func() {
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			history, at := histories(t)
			limits := prompt.Limits{
				Messages: rapid.IntRange(1, 80).Draw(t, "messages"), Tokens: rapid.IntRange(1, 30_000).Draw(t, "tokens"),
			}
			before := slices.Clone(history)
			selected := prompt.Trim(history, at, limits)
			if broken := promises(history, at, limits, selected); broken != "" {
				t.Fatal(broken)
			}
			if !slices.Equal(history, before) {
				t.Fatal("the history was changed")
			}
			again := prompt.Trim(selected.Messages, at, limits)
			if again.Trimmed != 0 || !slices.Equal(again.Messages, selected.Messages) {
				t.Fatal("what was kept is trimmed again")
			}
		})
	})

	It("keeps a history within the limits", func() {
		history := until(session.Block3)
		selected := prompt.Trim(history, session.Block3, prompt.Limits{})
		Expect(len(history)).To(BeNumerically("<", 40))
		Expect(selected).To(Equal(prompt.Kept{Messages: history, Tokens: tokens(history)}))
		Expect(prompt.Trim(nil, session.Block1, prompt.Limits{})).To(Equal(prompt.Kept{}))
	})

	It("keeps 40 recent messages and the protected ones before them", func() {
		history := until(session.Block9)
		selected := prompt.Trim(history, session.Block9, prompt.Limits{})
		var seqs []int
		for _, m := range selected.Messages {
			seqs = append(seqs, m.Seq)
		}
		var want []int
		for i, m := range history {
			old := i < len(history)-40
			if !old || m.Kind == session.KindMirror || m.Step.Block() == 2 {
				want = append(want, m.Seq)
			}
		}
		Expect(seqs).To(Equal(want))
		Expect(selected.Trimmed).To(Equal(17)) // the opening, and the questions of blocks 1 and 3
	})

	It("keeps 40 messages and 7,000 tokens by default", func() {
		var s script
		for q := range 60 {
			s.add(llm.Assistant, session.KindTone, session.Tone, q, "one")
		}
		Expect(prompt.Trim(s, session.Block1, prompt.Limits{}).Messages).To(Equal([]session.Message(s[20:])))
		for i := range s {
			s[i].Tokens = 1_000
		}
		Expect(prompt.Trim(s, session.Block1, prompt.Limits{}).Messages).To(Equal([]session.Message(s[53:])))
	})

	It("takes the same question of two steps for two", func() {
		var s script
		s.exchange(session.KindQuestion, session.Block1, 0, "a b c", "d e f")
		s.exchange(session.KindQuestion, session.Block3, 0, "a b c", "d e f")
		Expect(prompt.Trim(s, session.Block4, prompt.Limits{Tokens: 6}).Messages).To(Equal([]session.Message(s[2:])))
	})

	It("leaves out an answer of 5,000 tokens once its block is over and there is no room", Label("I-14"), func() {
		var s script
		s.opening()
		s.block(session.Block1, 3)
		s[6].Tokens = 5_000 // the answer to the first question
		s.block(session.Block2A, 3)
		limits := prompt.Limits{Tokens: 4_000}

		current := prompt.Trim(s, session.Block1, limits)
		Expect(current.Messages).To(ContainElement(s[6]))
		Expect(current.Over).To(BeTrue())

		later := prompt.Trim(s, session.Block2A, limits)
		Expect(later.Messages).NotTo(ContainElement(s[6]))
		Expect(later.Messages).NotTo(ContainElement(s[5]), "its question")
		Expect(later.Messages).To(ContainElement(s[7]), "the next question")
		Expect(later.Over).To(BeFalse())

		Expect(prompt.Trim(s, session.Block2A, prompt.Limits{Tokens: 6_000}).Trimmed).To(BeZero())
	})

	It("estimates a token for four bytes without a count", func() {
		var s script
		s.opening()
		s[1].Tokens, s[1].Text = 0, "123456789"
		Expect(prompt.Trim(s, session.Block1, prompt.Limits{}).Tokens).To(Equal(tokens(s) + 3))
	})
})

func FuzzTrim(f *testing.F) {
	f.Add([]byte{}, uint8(3), uint16(40), uint16(7_000))
	f.Add([]byte{0, 1, 2, 3, 40, 41, 42, 99, 200, 255}, uint8(5), uint16(3), uint16(100))
	steps, kinds := session.Steps(), []session.Kind{
		session.KindTone, session.KindPreamble, session.KindQuestion, session.KindMirror, session.KindMatching, session.KindOther,
	}
	f.Fuzz(func(t *testing.T, shape []byte, at uint8, messages, size uint16) {
		// Any messages in any order: each byte is one, and every exchange is new.
		history := make([]session.Message, len(shape))
		for i, b := range shape {
			history[i] = session.Message{
				Seq: i + 1, Step: steps[int(b)%len(steps)], Kind: kinds[int(b/16)%len(kinds)], Question: i / 2, Tokens: 1 + int(b),
			}
		}
		limits := prompt.Limits{Messages: 1 + int(messages), Tokens: 1 + int(size)}
		step := steps[int(at)%len(steps)]
		if broken := promises(history, step, limits, prompt.Trim(history, step, limits)); broken != "" {
			t.Fatal(broken)
		}
	})
}
