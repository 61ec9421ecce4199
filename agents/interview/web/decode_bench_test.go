package web

import (
	"encoding/json"
	"strings"
	"testing"
)

// message is a request with an answer of 2 kB.
var message = []byte(`{"sessionId":"B7FJ4D6J7CTUB3HVLRU5RVZ3WW","replyTo":"m31","submissionId":"one","message":"` +
	strings.Repeat("Ce qui me porte, c'est la durée. ", 64) + `"}`)

func BenchmarkDecode(b *testing.B) {
	b.SetBytes(int64(len(message)))
	b.ReportAllocs()
	for b.Loop() {
		if _, p := decodeSubmission(message); p != nil {
			b.Fatal(p.Message)
		}
	}
}

// BenchmarkFloorDecode reads the same with encoding/json, which admits more.
func BenchmarkFloorDecode(b *testing.B) {
	b.SetBytes(int64(len(message)))
	b.ReportAllocs()
	for b.Loop() {
		var in struct{ SessionID, ReplyTo, SubmissionID, Message string }
		if err := json.Unmarshal(message, &in); err != nil {
			b.Fatal(err)
		}
	}
}
