// Package prompt turns the state of an interview into the request that a model
// is sent: instructions compressed to what the block and the purpose need, and
// the part of the history that fits.
package prompt

import (
	"strconv"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/llm"
)

// Built is a request with what was left out of it.
type Built struct {
	Request llm.Request
	// Sent and Trimmed are how many messages of the history went along and not.
	Sent, Trimmed int
	// Over means that what must go along is by itself larger than Limits.Tokens.
	Over bool
}

// Build returns the request for what the session owes; history is all that was
// said, in order. Neither is changed. The request's Model is left empty.
//
// A request is, in this order: the frame, which stays the same all through the
// interview so that providers can cache it; the history; where the task speaks
// of them, the works that the candidate named; the task; and after a text that
// was refused, this text and what it lacked. The instructions come last so that they have the
// last word. What a candidate wrote is only ever in user messages, and what
// could pass for one of ours in it is defused; see neutral.
func (s *Set) Build(now session.Session, history []session.Message, limits Limits) Built {
	owed := session.Owed{}
	if now.Owed != nil {
		owed = *now.Owed
	}
	texts := s.in(now.Register)
	kept := Trim(history, now.Step, limits)

	messages := make([]llm.Message, 0, len(kept.Messages)+4)
	messages = append(messages, llm.Message{Role: llm.System, Content: texts[frame]})
	for i := range kept.Messages {
		messages = append(messages, said(&kept.Messages[i]))
	}
	if namesWorks(now.Step, owed.Index) {
		messages = append(messages, llm.Message{Role: llm.User, Content: s.works(now)})
	}
	var parts []string
	for _, name := range task(owed.Purpose, now.Step, owed.Index, now.Medium) {
		parts = append(parts, texts[name])
	}
	messages = append(messages, llm.Message{Role: llm.System, Content: strings.Join(parts, "\n\n")})
	if owed.Reply != "" {
		messages = append(messages, llm.Message{Role: llm.Assistant, Content: neutral(owed.Reply)})
	}
	if owed.Complaint != "" {
		complaint := neutral(sanitize.Line(owed.Complaint, maxComplaint))
		messages = append(messages, llm.Message{
			Role: llm.System, Content: strings.Replace(texts[reinforce], "{complaint}", complaint, 1),
		})
	}
	return Built{
		Request: llm.Request{
			Purpose: string(owed.Purpose), Tags: s.tags(now, owed), Messages: messages,
			MaxTokens: maxTokens[owed.Purpose],
		},
		Sent: len(kept.Messages), Trimmed: kept.Trimmed, Over: kept.Over,
	}
}

// maxTokens caps replies, for each purpose at several times what the longest good
// reply takes: there is room for a model that thinks first, whose thoughts count,
// and only one that runs away is cut off.
var maxTokens = map[session.Purpose]int{
	session.PurposePreamble:  2000,
	session.PurposeQuestions: 6000, // the nine of block 2B
	session.PurposeAdaptive:  1000,
	session.PurposeMirror:    1500,
	session.PurposeProfile:   5000,
	session.PurposeMatching:  3000,
}

// The longest complaint and the longest name of a work, in characters. The whole
// answer is in the history.
const (
	maxComplaint = 600
	maxTitle     = 120
	maxTitles    = 10
)

// said returns a message of the history in the form in which it is sent. The texts of
// models are treated like those of candidates, whose words they may repeat.
func said(m *session.Message) llm.Message {
	role := llm.User
	if m.Role == llm.Assistant {
		role = llm.Assistant
	}
	return llm.Message{Role: role, Content: neutral(m.Text)}
}

// works returns which works the service read from the answers.
func (s *Set) works(now session.Session) string {
	titles := lines(now.Works)
	medium := s.media.Series
	if now.Medium == session.Film {
		medium = s.media.Film
	}
	text := s.in(now.Register)[works]
	text = strings.NewReplacer(
		"{medium}", medium,
		"{works}", orNone(strings.Join(titles, " ; ")),
		"{core}", orNone(sanitize.Line(now.CoreWork, maxTitle)),
	).Replace(text)
	if now.Owed != nil && len(now.Owed.Wanted) > 0 {
		text += "\n" + strings.Replace(s.in(now.Register)[missing], "{titles}", strings.Join(lines(now.Owed.Wanted), " ; "), 1)
	}
	return neutral(text)
}

// lines returns titles as they are sent, each in one line.
func lines(titles []string) []string {
	var all []string
	for _, title := range titles[:min(len(titles), maxTitles)] {
		all = append(all, sanitize.Line(title, maxTitle))
	}
	return all
}

func orNone(text string) string {
	if text == "" {
		return "–"
	}
	return text
}

// tags tell calls apart in scripts, recordings and the provider's own logs.
func (s *Set) tags(now session.Session, owed session.Owed) map[string]string {
	tags := map[string]string{
		"step":      string(now.Step),
		"block":     strconv.Itoa(now.Step.Block()),
		"part":      now.Step.Part(),
		"candidate": now.Candidate,
		"language":  string(s.Language),
		"attempt":   strconv.Itoa(max(owed.Attempt, 1)),
		"prompt":    s.String(),
	}
	if owed.Purpose == session.PurposeAdaptive {
		tags["index"] = strconv.Itoa(owed.Index)
	}
	return tags
}
