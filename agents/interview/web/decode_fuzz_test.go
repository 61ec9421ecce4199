package web

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// FuzzDecode checks that every accepted text is an object of known fields that the
// standard library decodes to the same value, without characters that must not be stored.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{"event":"START","language":"en","candidateId":"a.b"}`,
		`{"sessionId":"s","message":"C'est \"ça\"\n\u00e9\ud83d\ude42","submissionId":"1","replyTo":"m3"}`,
		`{"sessionId":"s","message":null}`, `{"event":"START","event":"GO"}`, `{"a":[[[[1]]]]}`, "{\"message\":\"\xff\"}", `{} {}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		in, failed := decodeSubmission(body)
		if failed != nil {
			if failed.Status < 400 || failed.Status > 499 || failed.Code == "" || !utf8.ValidString(failed.Message) || len(failed.Message) > 500 {
				t.Fatalf("refused with %+v", failed)
			}
			return
		}
		var std struct {
			SessionID, Message, SubmissionID, CandidateID, ReplyTo, Event, Language string
		}
		decoder := json.NewDecoder(strings.NewReader(string(body)))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&std); err != nil {
			t.Fatalf("encoding/json refuses what was admitted: %v", err)
		}
		pairs := [][2]string{
			{in.Session, std.SessionID},
			{in.Message, std.Message},
			{in.ID, std.SubmissionID},
			{in.Candidate, std.CandidateID},
			{in.ReplyTo, std.ReplyTo},
			{string(in.Event), std.Event},
			{string(in.Language), std.Language},
		}
		for _, pair := range pairs {
			if pair[0] != pair[1] {
				t.Fatalf("read %q, encoding/json %q", pair[0], pair[1])
			}
			if strings.ContainsFunc(pair[0], func(r rune) bool { return unicode.IsControl(r) && !strings.ContainsRune("\n\r\t", r) }) {
				t.Fatalf("admitted a control character: %q", pair[0])
			}
		}
	})
}
