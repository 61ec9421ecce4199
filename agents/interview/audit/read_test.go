package audit_test

import (
	"context"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/agents/interview/audit"
	"github.com/rehearse-dev/rehearse/agents/interview/session"
)

// shelf is a store of one session that changes while it is read.
type shelf struct {
	session.Store
	data  audit.Data
	moves int
}

func (s *shelf) Load(_ context.Context, id string) (session.Session, error) {
	if id != s.data.Session.ID {
		return session.Session{}, session.ErrNotFound
	}
	return s.data.Session, nil
}

func (s *shelf) Messages(context.Context, string) ([]session.Message, error) {
	if s.moves > 0 {
		s.moves--
		s.data.Session.Version++
	}
	return s.data.Messages, nil
}

func (s *shelf) Answers(context.Context, string) ([]session.Answer, error) {
	return s.data.Answers, nil
}

func (s *shelf) Queues(context.Context, string) ([]session.Queue, error) { return s.data.Queues, nil }

func (s *shelf) Shares(context.Context, string) ([]session.Share, error) { return s.data.Shares, nil }

func (s *shelf) Calls(context.Context, string) ([]session.Call, error) { return s.data.Calls, nil }

var _ = Describe("reading a session", func() {
	It("waits until all of it is of one version", func(ctx SpecContext) {
		d, err := audit.Read(ctx, &shelf{data: troubled(), moves: 3}, sessionID)
		Expect(err).NotTo(HaveOccurred())
		Expect(d.Session.Version).To(Equal(troubled().Session.Version + 3))
		Expect(d.Calls).To(HaveLen(27))
	})
	It("does not wait for ever", func(ctx SpecContext) {
		_, err := audit.Read(ctx, &shelf{data: troubled(), moves: 1000}, sessionID)
		Expect(err).To(MatchError(ContainSubstring("the session keeps changing")))
	})
	It("names an unknown session", func(ctx SpecContext) {
		_, err := audit.Read(ctx, &shelf{data: troubled()}, "s-2")
		Expect(err).To(MatchError(session.ErrNotFound))
		Expect(err).To(MatchError(ContainSubstring("s-2")))
	})
})

func fileName(candidate, extension string) string {
	return audit.FileName(audit.About{Candidate: candidate}, false, extension)
}

var _ = Describe("the name of the file", Label("I-15"), func() {
	plain := func(name string) bool {
		return filepath.IsLocal(name) && filepath.Base(name) == name && !strings.ContainsAny(name, "/\\:\x00\n") &&
			strings.HasPrefix(name, "session_audit_") && len(name) <= 100
	}

	It("has the start of the session's id if the candidate has several sessions", func() {
		Expect(audit.FileName(audit.About{Candidate: "lea", ID: "0123456789"}, true, ".json")).To(Equal("session_audit_lea+01234567.json"))
		Expect(plain(audit.FileName(audit.About{Candidate: "../lea", ID: "../a"}, true, ".json"))).To(BeTrue())
	})

	It("is that of the candidate", func() {
		Expect(fileName("lea", ".json")).To(Equal("session_audit_lea.json"))
		Expect(fileName("Jean-Luc.P_7", ".html")).To(Equal("session_audit_Jean-Luc.P_7.html"))
	})
	DescribeTable("is one plain name for every id",
		func(id string) { Expect(plain(fileName(id, ".json"))).To(BeTrue(), fileName(id, ".json")) },
		Entry("that leaves the folder", "../../etc/passwd"), Entry("with a slash", "a/b"), Entry("with a backslash", `a\b`),
		Entry("that is empty", ""), Entry("of a dot", "."), Entry("of two dots", ".."), Entry("that is long", strings.Repeat("a", 10_000)),
		Entry("with a NUL", "a\x00b"), Entry("with a line break", "a\n"), Entry("that is absolute", "/abs"), Entry("with a drive", "C:x"),
		Entry("that is not UTF-8", "\xff\xfe"), Entry("with accents", "évêque"),
	)
	It("is unique", func() {
		made := strings.TrimPrefix(fileName("a/b", ""), "session_audit_")
		Expect(fileName(made, "")).NotTo(Equal(fileName("a/b", "")))
		Expect(fileName(strings.Repeat("a", 64), "")).To(HaveSuffix(strings.Repeat("a", 64)))
		Expect(fileName(strings.Repeat("a", 65), "")).To(HavePrefix("session_audit__"))
	})
	It("is plain and another one for each id", func() {
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			id := rapid.OneOf(rapid.String(), rapid.StringMatching(`[./\\a\x00]{0,80}`)).Draw(t, "id")
			other := rapid.OneOf(rapid.String(), rapid.StringMatching(`_?[0-9a-f]{0,16}`)).Draw(t, "other")
			name := fileName(id, ".json")
			if !plain(name) || id != other && fileName(other, ".json") == name {
				t.Fatalf("%q becomes %q", id, name)
			}
		})
	})
})
