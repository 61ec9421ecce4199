package web

import (
	"fmt"
	"slices"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/llm"
)

// interviewPage is the page of one interview.
type interviewPage struct {
	Session  session.Session
	Messages []session.Message
	// Working is true if the owed message is being produced.
	Working bool
	// Submission is the id of the form's submission.
	Submission string
	// Problem is the code of the problem with the last submission. Typed and Choice are its
	// content, to be sent again.
	Problem, Typed, Choice string
	// Unsent is the text for a question that had been answered before.
	Unsent string
}

// blocksInAll is the number of blocks of an interview. The last one is the portrait.
const blocksInAll = 10

// mode determines the actions on the page.
type mode string

const (
	modeAnswering  mode = "answering"
	modeCommenting mode = "commenting" // on a mirror
	modeReady      mode = "ready"
	modeFailed     mode = "failed"
	modeThinking   mode = "thinking" // another request is producing the next message
	modeOwed       mode = "owed"     // the next message is not being produced
	modeFinished   mode = "finished"
)

func (p interviewPage) mode() mode {
	s := p.Session
	switch s.Phase {
	case session.Asking:
		return modeAnswering
	case session.Reflecting:
		return modeCommenting
	case session.Waiting:
		return modeReady
	case session.Finished:
		return modeFinished
	case session.Owing:
	}
	switch {
	case !p.Working && s.Owed != nil && s.Owed.Failed != "":
		return modeFailed
	case p.Working:
		return modeThinking
	}
	return modeOwed
}

// historyEntry is one message of the history.
type historyEntry struct {
	What    string // the message, such as "Question 2"
	ByModel bool
	Blocks  []block
	Text    string
}

// interviewView is the data of the template.
type interviewView struct {
	pageFrame
	interviewPage
	Mode    mode
	Kind    session.Kind
	Place   string  // the current place in the interview
	Filled  float64 // finished blocks, of ten
	ReplyTo string
	// Shown is the current message, and Portrait the profile at the end.
	Shown, Portrait []block
	What            string
	Choices         []choice
	History         []historyEntry
	Alert, Go       string
}

func (p interviewPage) render() ([]byte, error) {
	w := textsIn(p.Session.Language, p.Session.Register)
	v := interviewView{
		interviewPage: p,
		Mode:          p.mode(),
		Filled:        progress(p.Session),
		Place:         placeText(w, p.Session),
		ReplyTo:       session.MessageID(p.Session.Shown),
		Go:            w.Ready,
	}
	if v.Mode == modeFinished {
		v.Place = w.Done
	}
	if p.Session.Step == session.Block10 {
		v.Go = w.ShowMatch
	}
	v.pageFrame = newPageFrame(w, p.Session.Language, p.Session.Register, v.Place)
	switch {
	case p.Problem == "store_failed" && p.Session.Phase == session.Owing:
		v.Alert = w.problem("") // the answer was stored before the store failed
	case p.Problem == "invalid":
		v.Alert = w.problem("") // the text for this code is about the start page
	case p.Problem != "":
		v.Alert = w.problem(p.Problem)
	case v.Mode == modeFailed:
		v.Alert = w.problem(p.Session.Owed.Failed)
	}
	v.split(w)
	return renderTemplate("interview.html", v)
}

// split separates the current message from the history.
func (v *interviewView) split(w pageTexts) {
	for _, m := range v.Messages {
		text := parseBlocks(m.Text, v.Lang)
		switch {
		case m.Seq == v.Session.Shown && v.Mode != modeFailed && v.Mode != modeThinking && v.Mode != modeOwed:
			v.What, v.Kind, v.Shown = messageTitle(w, m), m.Kind, text
			if v.Mode == modeAnswering {
				v.Choices = choicesOf(m.Text)
			}
			if v.Choices != nil {
				v.Shown = slices.DeleteFunc(text, func(b block) bool { return b.Kind == choiceList })
			}
			continue
		case v.Mode == modeFinished && m.Role == llm.Assistant && m.Step == session.Block10:
			v.Portrait = text
			continue
		}
		v.History = append(v.History, historyEntryOf(w, m, text))
	}
}

func historyEntryOf(w pageTexts, m session.Message, text []block) historyEntry {
	if m.Role == llm.User {
		return historyEntry{What: w.You, Text: m.Text}
	}
	return historyEntry{What: messageTitle(w, m), ByModel: true, Blocks: text}
}

func messageTitle(w pageTexts, m session.Message) string {
	switch m.Kind {
	case session.KindQuestion:
		return fmt.Sprintf("%s %d", w.Question, m.Question+1)
	case session.KindMirror:
		return w.Mirror
	case session.KindPreamble:
		return w.Preamble
	case session.KindMatching:
		return w.Matching
	default:
	}
	if m.Step == session.Block10 {
		return w.Profile
	}
	return w.Opening
}

// placeText returns the current place in the interview.
func placeText(w pageTexts, s session.Session) string {
	block := s.Step.Block()
	switch {
	case block == 0:
		return w.Start
	case s.Step == session.Matching:
		return w.Matching
	case block == blocksInAll:
		return w.Profile
	}
	text := fmt.Sprintf("%s %d %s %d", w.Block, block, w.Of, blocksInAll-1)
	if part := s.Step.Part(); part != "" {
		text += fmt.Sprintf(", %s %s", w.Part, part)
	}
	if total := questionCount(s); total > 0 && s.Phase == session.Asking {
		text += fmt.Sprintf(" · %s %d %s %d", w.Question, s.Queue.Cursor+1, w.Of, total)
	}
	return text
}

// questionCount returns the number of questions of the step, or 0 if it is not known.
func questionCount(s session.Session) int {
	switch {
	case s.Queue == nil:
		return 0
	case s.Step == session.Block2A:
		return len(s.Step.Calls()) // one for each question
	}
	return len(s.Queue.Questions)
}

// progress returns the number of finished blocks plus the finished part of the current one.
func progress(s session.Session) float64 {
	if s.Phase == session.Finished {
		return blocksInAll
	}
	done := float64(max(s.Step.Block()-1, 0))
	if total := questionCount(s); total > 0 {
		done += float64(s.Queue.Cursor) / float64(total+1) // the mirror is part of it
	}
	return done
}
