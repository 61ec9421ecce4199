package web

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/rehearse-dev/rehearse/agents/interview"
	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/internal/suggest"
)

const (
	// maxName is the maximum length in bytes of every field except message.
	maxName = 200
	// maxQuoted limits text from a client in responses, in bytes.
	maxQuoted = 80
)

// axiomBody is the body of POST /axiom. A field that is null counts as missing.
type axiomBody struct {
	Session    string           `json:"sessionId"`
	Candidate  string           `json:"candidateId"`
	Language   session.Language `json:"language"`
	Message    *string          `json:"message"`
	Event      interview.Event  `json:"event"`
	Submission string           `json:"submissionId"`
	ReplyTo    string           `json:"replyTo"`
	Job        string           `json:"job"`
	Invitation string           `json:"invitation"`
}

var axiomFields = []string{"sessionId", "candidateId", "language", "message", "event", "submissionId", "replyTo", "job", "invitation"}

// readBody reads the JSON body of a request, at most limit bytes of it.
func readBody(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, *problem) {
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || media != "application/json" {
		return nil, newProblem(http.StatusUnsupportedMediaType, "media_type", "send JSON, with Content-Type: application/json")
	}
	if coding := r.Header.Get("Content-Encoding"); coding != "" && coding != "identity" {
		return nil, newProblem(http.StatusUnsupportedMediaType, "media_type", "send the body without Content-Encoding")
	}
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, newProblem(http.StatusRequestEntityTooLarge, "body_too_large", fmt.Sprintf("the body has more than %d bytes", limit))
	}
	if err != nil {
		return nil, newProblem(http.StatusBadRequest, "invalid_body", "the body is incomplete; send it again")
	}
	return data, nil
}

// decodeSubmission decodes a submission strictly: it rejects bodies that two JSON parsers might
// read differently.
func decodeSubmission(data []byte) (interview.Submission, *problem) {
	var in axiomBody
	if !utf8.Valid(data) {
		return interview.Submission{}, newProblem(http.StatusBadRequest, "not_utf8", "the body is not UTF-8")
	}
	if start := bytes.TrimLeft(data, " \t\r\n"); len(start) == 0 || start[0] != '{' {
		return interview.Submission{}, newProblem(http.StatusBadRequest, "invalid_json", "the body is not a JSON object")
	}
	if err := json.Unmarshal(data, &in, json.RejectUnknownMembers(true)); err != nil {
		return interview.Submission{}, decodeProblem(err)
	}
	if f := in.check(); f != nil {
		return interview.Submission{}, f
	}
	out := interview.Submission{
		Session: in.Session, Candidate: in.Candidate, Language: in.Language,
		Event: in.Event, ID: in.Submission, ReplyTo: in.ReplyTo, Job: in.Job, Invitation: in.Invitation,
	}
	if in.Message != nil {
		out.Message = *in.Message
	}
	return out, nil
}

// decodeProblem returns the problem with a body, with its position.
func decodeProblem(err error) *problem {
	if e, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		if errors.Is(e, jsontext.ErrDuplicateName) {
			return newProblem(http.StatusBadRequest, "duplicate_field", fmt.Sprintf("duplicate field %s", quotedField(e.JSONPointer)))
		}
		return newProblem(http.StatusBadRequest, "invalid_json",
			fmt.Sprintf("the body is not one JSON object: at byte %d: %s", e.ByteOffset, sanitize.Shorten(e.Err.Error(), maxQuoted)))
	}
	e, ok := errors.AsType[*json.SemanticError](err)
	switch {
	case !ok:
		return newProblem(http.StatusBadRequest, "invalid_json", "the body is not one JSON object")
	case errors.Is(e, json.ErrUnknownName):
		message := fmt.Sprintf("unknown field %s", quotedField(e.JSONPointer))
		if near := suggest.Nearest(e.JSONPointer.LastToken(), axiomFields); near != "" {
			message += fmt.Sprintf("; did you mean %q?", near)
		}
		return newProblem(http.StatusBadRequest, "unknown_field", message)
	}
	return newProblem(http.StatusBadRequest, "wrong_type",
		fmt.Sprintf("field %s must be a string, got %s", quotedField(e.JSONPointer), jsonKindName(e.JSONKind)))
}

// check rejects fields that are invalid in every session.
func (in axiomBody) check() *problem {
	for _, field := range []struct{ name, value string }{
		{"sessionId", in.Session},
		{"candidateId", in.Candidate},
		{"language", string(in.Language)},
		{"event", string(in.Event)},
		{"submissionId", in.Submission},
		{"replyTo", in.ReplyTo},
		{"job", in.Job},
		{"invitation", in.Invitation},
	} {
		if len(field.value) > maxName {
			return newProblem(http.StatusBadRequest, "field_too_long",
				fmt.Sprintf("field %q has %d bytes; at most %d are allowed", field.name, len(field.value), maxName))
		}
		if at := strings.IndexFunc(field.value, isControl); at >= 0 {
			return controlProblem(field.name, at)
		}
	}
	if in.Message != nil {
		if at := controlIndex(*in.Message); at >= 0 {
			return controlProblem("message", at)
		}
	}
	switch {
	case in.Session == "" && in.Event != interview.EventStart:
		return newProblem(http.StatusBadRequest, "missing_field",
			fmt.Sprintf(`field "sessionId" is required; send the event %q to begin a session`, interview.EventStart))
	case in.Message == nil && in.Event == "":
		return newProblem(http.StatusBadRequest, "missing_field", `field "message" or "event" is required`)
	}
	return nil
}

// controlProblem returns the problem of a field with a control character.
func controlProblem(field string, at int) *problem {
	return newProblem(http.StatusBadRequest, "control_character", fmt.Sprintf("field %q contains a control character at byte %d", field, at))
}

func isControl(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 }

// controlIndex returns the index of the first control character other than a tab and line breaks,
// or -1.
func controlIndex(text string) int {
	return strings.IndexFunc(text, func(r rune) bool { return isControl(r) && r != '\n' && r != '\r' && r != '\t' })
}

// quotedField returns the quoted name of the field that a pointer ends at.
func quotedField(p jsontext.Pointer) string {
	return fmt.Sprintf("%q", sanitize.Shorten(p.LastToken(), maxQuoted))
}

func jsonKindName(k jsontext.Kind) string {
	switch k {
	case jsontext.KindTrue, jsontext.KindFalse:
		return "boolean"
	case jsontext.KindNumber:
		return "number"
	case jsontext.KindBeginObject:
		return "object"
	case jsontext.KindBeginArray:
		return "array"
	default:
		return k.String()
	}
}
