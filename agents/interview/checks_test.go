package interview_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/interview"
	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/llm"
)

var _ = Describe("Bad input", func() {
	DescribeTable("is refused by name, and nothing is stored",
		func(ctx context.Context, sub interview.Submission, code interview.Code, text string) {
			p := meet("lea")
			r := newRig(p)
			s := r.serve()
			if sub.Session == "*" {
				sub.Session = handle(ctx, s, p.begin()).SessionID
			}
			commits := len(r.emitted("commit"))
			failed := refusal(s.Handle(ctx, sub))
			Expect(failed.Code).To(Equal(code))
			Expect(failed.Message).To(ContainSubstring(text))
			Expect(len(failed.Message)).To(BeNumerically("<", 400))
			Expect(r.emitted("commit")).To(HaveLen(commits))
			submissions := payloads[interview.Submitted](r, "submission")
			Expect(submissions[len(submissions)-1].Code).To(Equal(string(code)))
		},
		Entry("no session", interview.Submission{Message: "hello", ID: "a"}, interview.CodeInvalid, "sessionId: it is missing"),
		Entry("an unknown session", interview.Submission{Session: "s77", Message: "hello", ID: "a"}, interview.CodeUnknown, "no such session"),
		Entry("a session that is a path", interview.Submission{Session: "../x", Event: interview.EventResume}, interview.CodeInvalid, "sessionId"),
		Entry("a session as long as a book", interview.Submission{Session: strings.Repeat("a", 10_000), Event: interview.EventResume}, interview.CodeInvalid, "sessionId"),
		Entry("START of a session that there is", interview.Submission{Session: "*", Event: interview.EventStart}, interview.CodeInvalid, "RESUME"),
		Entry("an unknown event", interview.Submission{Session: "*", Event: "RESUMEE"}, interview.CodeUnknownEvent, `there is no "RESUMEE"; did you mean RESUME?`),
		Entry("an event that is like none", interview.Submission{Session: "*", Event: "\x00" + interview.Event(strings.Repeat("é", 9999))}, interview.CodeUnknownEvent, `there are START, RESUME, GO`),
		Entry("a message and an event", interview.Submission{Session: "*", Event: interview.EventGo, Message: "x", ID: "a"}, interview.CodeInvalid, "not both"),
		Entry("an unknown language", interview.Submission{Language: "fra"}, interview.CodeInvalid, `there is no "fra"; did you mean fr?`),
		Entry("a candidate that is a path", interview.Submission{Candidate: "../../etc/passwd"}, interview.CodeInvalid, "candidateId"),
		Entry("a candidate in a folder", interview.Submission{Candidate: "a/b"}, interview.CodeInvalid, "candidateId"),
		Entry("a candidate that hides", interview.Submission{Candidate: ".hidden"}, interview.CodeInvalid, "candidateId"),
		Entry("a candidate with a new line", interview.Submission{Candidate: "a\n"}, interview.CodeInvalid, "candidateId"),
		Entry("a long candidate", interview.Submission{Candidate: strings.Repeat("a", 65)}, interview.CodeInvalid, "candidateId"),
		Entry("a long id", interview.Submission{Session: "*", Message: "x", ID: strings.Repeat("é", 65)}, interview.CodeInvalid, "submissionId"),
		Entry("an id that is not UTF-8", interview.Submission{Session: "*", Message: "x", ID: "\xff"}, interview.CodeInvalid, "submissionId"),
		Entry("an id with a control character", interview.Submission{Session: "*", Message: "x", ID: "a\n"}, interview.CodeInvalid, "submissionId"),
		Entry("a reply to no message id", interview.Submission{Session: "*", Message: "x", ReplyTo: "12"}, interview.CodeInvalid, "replyTo"),
		Entry("a reply to a number with a sign", interview.Submission{Session: "*", Message: "x", ReplyTo: "m+1"}, interview.CodeInvalid, "replyTo"),
		Entry("a reply to a number with a nought before it", interview.Submission{Session: "*", Message: "x", ReplyTo: "m01"}, interview.CodeInvalid, "replyTo"),
		Entry("a reply to nought", interview.Submission{Session: "*", Message: "x", ReplyTo: "m0"}, interview.CodeInvalid, "replyTo"),
		Entry("a candidate that is an option", interview.Submission{Candidate: "-rf"}, interview.CodeInvalid, "candidateId"),
		Entry("a candidate with an accent", interview.Submission{Candidate: "zoé"}, interview.CodeInvalid, "candidateId"),
		Entry("a reply to a number without end", interview.Submission{Session: "*", Message: "x", ReplyTo: "m" + strings.Repeat("9", 99)}, interview.CodeInvalid, "replyTo"),
		Entry("an empty message", interview.Submission{Session: "*", ReplyTo: "m1"}, interview.CodeEmptyAnswer, "write an answer"),
		Entry("a message of space", interview.Submission{Session: "*", Message: " \r\n\t\u00a0 ", ReplyTo: "m1"}, interview.CodeEmptyAnswer, "write an answer"),
		Entry("a message that is not UTF-8", interview.Submission{Session: "*", Message: "caf\xe9", ReplyTo: "m1"}, interview.CodeInvalid, "not UTF-8"),
		Entry("a NUL", interview.Submission{Session: "*", Message: "a\x00b", ReplyTo: "m1"}, interview.CodeInvalid, "control character"),
		Entry("an escape", interview.Submission{Session: "*", Message: "a\x1b[2Jb", ReplyTo: "m1"}, interview.CodeInvalid, "control character"),
		Entry("a control character beyond ASCII", interview.Submission{Session: "*", Message: "a\u0085b", ReplyTo: "m1"}, interview.CodeInvalid, "control character"),
		Entry("a message that is too long", interview.Submission{Session: "*", Message: strings.Repeat("x", 64<<10+1), ReplyTo: "m1"}, interview.CodeTooLong, "it has 65537 bytes; at most 65536 are read"),
	)

	It("is not the longest candidate", func(ctx context.Context) {
		s := newRig(meet("lea")).serve()
		handle(ctx, s, interview.Submission{Candidate: "0Az.-_" + strings.Repeat("x", 58)})
	})

	It("is not what people write: any script, tabs, new lines of any system, and the longest answer", func(ctx context.Context) {
		p := meet("lea")
		r := newRig(p)
		s := r.serve()
		v := handle(ctx, s, p.begin())
		text := "Zoë\t李\r\n👩‍👩‍👧 <script>alert(1)</script>\rשלום" + strings.Repeat("x", 60<<10)
		handle(ctx, s, interview.Submission{Session: v.SessionID, ReplyTo: v.MessageID, Message: " " + text + "\r\n"})
		want := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
		Expect(r.answers(v.SessionID)).To(ConsistOf(string(session.Identity) + "/0: " + want))
	})

	DescribeTable("of whoever sets the service up is refused",
		func(o interview.Options, complete bool, text string) {
			d := interview.Deps{Clock: clock.NewVirtual(), Backend: llm.BackendFunc(nil)}
			if complete {
				d.Store = mortalStore{}
			}
			_, err := interview.New(o, d)
			Expect(err).To(MatchError(ContainSubstring(text)))
		},
		Entry("no store", interview.Options{}, false, "needs a store, a backend and a clock"),
		Entry("a negative timeout", interview.Options{CallTimeout: -1}, true, "must not be negative"),
		Entry("fewer retries than none", interview.Options{TransportRetries: -2}, true, "must not be negative"),
	)
})

// FuzzHandle sends anything to a session: it must answer or refuse, and no
// answer may change.
func FuzzHandle(f *testing.F) {
	f.Add("GO", "", "a", "m1", "lea", "fr")
	f.Add("", "je suis Léa", "", "m1", "", "")
	f.Add("RETRY", "\x00", "\xff", "m99", "../x", "xx")
	backend := llm.BackendFunc(func(context.Context, llm.Request) (llm.Reply, error) {
		return llm.Reply{}, &llm.Error{Kind: llm.Unauthorized}
	})
	m := &memory{}
	s, err := interview.New(interview.Options{}, interview.Deps{Store: m, Backend: backend, Clock: clock.NewVirtual()})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, event, message, id, replyTo, candidate, language string) {
		ctx := t.Context()
		v, err := s.Handle(ctx, interview.Submission{})
		if err != nil {
			t.Fatal(err)
		}
		sub := interview.Submission{
			Session: v.SessionID, Event: interview.Event(event), Message: message, ID: id, ReplyTo: replyTo,
			Candidate: candidate, Language: session.Language(language),
		}
		for range 2 {
			if _, err := s.Handle(ctx, sub); err != nil {
				if failed, ok := errors.AsType[*interview.Error](err); !ok || failed.Code == interview.CodeStore {
					t.Fatalf("%v", err)
				}
			}
		}
		if len(m.answers) > 1 {
			t.Fatalf("%d answers to one question", len(m.answers))
		}
	})
}
