// Package prompt builds the requests of an interview: the instructions for a block and a purpose, and
// the part of the history that fits.
package prompt

import (
	"strconv"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/llm"
)

// Built is a request, with the size of its history.
type Built struct {
	Request llm.Request
	// Sent and Trimmed are the numbers of sent and omitted messages of the history.
	Sent, Trimmed int
	// Over is true if the messages that must be sent exceed Limits.Tokens.
	Over bool
}

// Build returns the request for the owed message of a session; history is all messages, in order.
// It changes neither. The Model of the request is empty.
//
// A request consists of the frame, which is constant for an interview so that providers can cache
// it; the history; the works named by the candidate, if the task refers to them; the task; and after
// an invalid text, that text and the complaint. Instructions at the end take precedence. Texts of
// candidates are only in user messages, neutralized; see neutral.
func (s *Set) Build(now session.Session, history []session.Message, limits Limits) Built {
	owed := session.Owed{}
	if now.Owed != nil {
		owed = *now.Owed
	}
	texts := s.in(now.Register)
	selected := trim(history, now.Step, limits)

	messages := make([]llm.Message, 0, len(selected.Messages)+4)
	messages = append(messages, llm.Message{Role: llm.System, Content: texts[frame]})
	for i := range selected.Messages {
		messages = append(messages, messageOf(&selected.Messages[i]))
	}
	if namesWorks(now.Step, owed.Index) {
		messages = append(messages, llm.Message{Role: llm.User, Content: s.works(now)})
	}
	var parts []string
	for _, name := range task(owed.Purpose, now.Step, owed.Index, now.Medium) {
		part := texts[name]
		if name == job {
			part = s.describeJob(part)
		}
		parts = append(parts, part)
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
		Sent: len(selected.Messages), Trimmed: selected.Trimmed, Over: selected.Over,
	}
}

// maxTokens limits replies to several times the length of the longest good one, to leave room for the
// reasoning of a model.
var maxTokens = map[session.Purpose]int{
	session.PurposePreamble:  2000,
	session.PurposeQuestions: 6000, // the nine of block 2B
	session.PurposeAdaptive:  1000,
	session.PurposeMirror:    1500,
	session.PurposeProfile:   5000,
	session.PurposeMatching:  3000,
}

// The maximum length of a complaint and of a title, in characters, and the maximum number of titles.
const (
	maxComplaint = 600
	maxTitle     = 120
	maxTitles    = 10
)

// messageOf returns a message of the history as it is sent. Texts of models are neutralized too,
// because they may repeat words of the candidate.
func messageOf(m *session.Message) llm.Message {
	role := llm.User
	if m.Role == llm.Assistant {
		role = llm.Assistant
	}
	return llm.Message{Role: role, Content: neutral(m.Text)}
}

// works returns the message with the works of the candidate.
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

// lines returns titles in the form for requests, each on one line.
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

// tags returns the tags that identify the call in scripts, recordings and logs of the provider.
func (s *Set) tags(now session.Session, owed session.Owed) map[string]string {
	tags := map[string]string{
		"step":      string(now.Step),
		"block":     strconv.Itoa(now.Step.Block()),
		"part":      now.Step.Part(),
		"candidate": now.Candidate,
		"language":  string(s.Language),
		"attempt":   strconv.Itoa(max(owed.Attempt, 1)),
		"prompt":    s.String(),
		"job":       s.job.ID,
	}
	if owed.Purpose == session.PurposeAdaptive {
		tags["index"] = strconv.Itoa(owed.Index)
	}
	return tags
}
