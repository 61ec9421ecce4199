package interview

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/internal/suggest"
)

// The maximum length in bytes of the ids of sessions and submissions and of candidates,
// and the maximum number of digits in the id of a message.
const (
	maxID        = 128
	maxCandidate = 64
	maxDigits    = 9
)

var newlines = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// request is a submission whose fields are valid.
type request struct {
	Submission
	// seq is the number of the message that ReplyTo names; 0 without one.
	seq int
}

// check validates the fields of a submission, independently of the state of the interview.
func check(in Submission, maxAnswer int) (request, *Error) {
	for _, field := range []func(*Submission) *Error{checkEvent, checkWho, checkIDs} {
		if err := field(&in); err != nil {
			return request{}, err
		}
	}
	if err := checkMessage(&in, maxAnswer); err != nil {
		return request{}, err
	}
	r := request{Submission: in}
	if in.ReplyTo != "" {
		r.seq, _ = messageSeq(in.ReplyTo)
	}
	return r, nil
}

func checkEvent(in *Submission) *Error {
	if in.Session == "" && in.Event == "" && in.Message == "" {
		in.Event = EventStart
	}
	switch {
	case in.Event != "" && !slices.Contains(events(), in.Event):
		return refuse(CodeUnknownEvent, "event: there is no %s", unknown(string(in.Event), events()))
	case in.Event != "" && in.Message != "":
		return refuse(CodeInvalid, "message, event: send a message or an event, not both")
	case in.Event == EventStart && in.Session != "":
		return refuse(CodeInvalid, "event: START begins a new session and takes no sessionId; RESUME shows a session that there is")
	case in.Event != EventStart && in.Session == "":
		return refuse(CodeInvalid, "sessionId: it is missing; START begins a new session")
	}
	return nil
}

func checkWho(in *Submission) *Error {
	switch {
	case in.Session != "" && !isName(in.Session, maxID):
		return refuse(CodeInvalid, "sessionId: it must be one that START returned")
	case in.Candidate != "" && !ValidCandidate(in.Candidate):
		return refuse(CodeInvalid,
			`candidateId: it must be 1 to 64 letters (a to z), digits, ".", "_" or "-", and begin with a letter or a digit`)
	case in.Language != "" && !slices.Contains(session.Languages(), in.Language):
		return refuse(CodeInvalid, "language: there is no %s", unknown(string(in.Language), session.Languages()))
	}
	return nil
}

func checkIDs(in *Submission) *Error {
	_, message := messageSeq(in.ReplyTo)
	switch {
	case len(in.ID) > maxID || !isPlain(in.ID, ""):
		return refuse(CodeInvalid, "submissionId: it must be at most %d bytes of UTF-8 without control characters", maxID)
	case in.ReplyTo != "" && !message:
		return refuse(CodeInvalid, "replyTo: it must be a messageId, such as m12")
	}
	return nil
}

// checkMessage validates the message and normalizes it: lines end with \n, and white
// space around the text is removed.
func checkMessage(in *Submission, longest int) *Error {
	if in.Event != "" {
		return nil
	}
	switch {
	case len(in.Message) > longest:
		return refuse(CodeTooLong, "message: it has %d bytes; at most %d are read", len(in.Message), longest)
	case !utf8.ValidString(in.Message):
		return refuse(CodeInvalid, "message: it is not UTF-8")
	}
	in.Message = strings.TrimSpace(newlines.Replace(in.Message))
	switch {
	case in.Message == "":
		return refuse(CodeEmptyAnswer, "message: it is empty; write an answer")
	case !isPlain(in.Message, "\n\t"):
		return refuse(CodeInvalid, "message: it contains a control character other than a new line or a tab")
	}
	return nil
}

// isName reports whether a text consists of 1 to longest ASCII letters, digits, ".", "_"
// and "-".
func isName(text string, longest int) bool {
	return text != "" && len(text) <= longest && !strings.ContainsFunc(text, func(r rune) bool {
		return !isAlphanumeric(r) && r != '.' && r != '_' && r != '-'
	})
}

// ValidCandidate reports whether a text is an id of a candidate, which is safe in a file name: it
// does not look like a hidden file or a command-line option.
func ValidCandidate(text string) bool {
	return isName(text, maxCandidate) && isAlphanumeric(rune(text[0]))
}

func isAlphanumeric(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
}

// messageSeq returns the number of the message with an id; see session.MessageID.
func messageSeq(id string) (seq int, ok bool) {
	if len(id) > maxDigits+1 {
		return 0, false
	}
	seq, err := strconv.Atoi(strings.TrimPrefix(id, "m"))
	return seq, err == nil && seq > 0 && session.MessageID(seq) == id
}

// isPlain reports whether a text is UTF-8 without control characters, except the allowed ones.
func isPlain(text, allowed string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool {
		return unicode.IsControl(r) && !strings.ContainsRune(allowed, r)
	})
}

// unknown quotes a word that is not among those known, with a suggestion.
func unknown[T ~string](word string, known []T) string {
	words := make([]string, len(known))
	for i, k := range known {
		words[i] = string(k)
	}
	quoted := strconv.Quote(word[:min(len(word), maxID)])
	if near := suggest.Nearest(word, words); near != "" {
		return quoted + "; did you mean " + near + "?"
	}
	return quoted + "; there are " + strings.Join(words, ", ")
}

func isGo(e Event) bool {
	return e == EventGo || e == EventStartBlock1 || e == EventStartMatching
}

// isWordGo reports whether a message is only the word "go".
func isWordGo(message string) bool {
	return strings.EqualFold(strings.Trim(message, ` .!"'`), "go")
}
