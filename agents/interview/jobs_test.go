package interview_test

import (
	"context"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/interview"
	"github.com/rehearse-dev/rehearse/agents/interview/prompt"
	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/llm"
)

// job returns a job whose mission is its id.
func job(id string, l session.Language) session.Job {
	return session.Job{ID: id, Language: l, Title: "T", Mission: "mission of " + id, Context: "C", Requirements: []string{"R"}}
}

var _ = Describe("The job of an interview", Label("I-02"), func() {
	var r *rig
	BeforeEach(func() {
		r = newRig(meet("tom"))
		r.jobs = []session.Job{job("nurse", session.English), job("nurse", session.French), job("buyer", session.English)}
	})
	start := func(ctx context.Context, id string, l session.Language) (interview.View, error) {
		return r.serve().Handle(ctx, interview.Submission{Event: interview.EventStart, Job: id, Language: l})
	}
	// told returns the job in a request.
	told := func(req llm.Request) string {
		last := req.Messages[len(req.Messages)-1].Content
		_, text, _ := strings.Cut(last, "Mission: ")
		text, _, _ = strings.Cut(text, "\n")
		return text
	}

	DescribeTable("is picked by id and language",
		func(ctx context.Context, only int, id string, l session.Language, wantID string, want session.Language) {
			r.jobs = r.jobs[only:]
			v, err := start(ctx, id, l)
			Expect(err).NotTo(HaveOccurred())
			Expect(v.Language).To(Equal(want))
			stored, err := r.store.Load(ctx, v.SessionID)
			Expect(err).NotTo(HaveOccurred())
			Expect(*stored.Job).To(Equal(job(wantID, want)))
		},
		Entry("both are named", 0, "nurse", session.English, "nurse", session.English),
		Entry("French comes first", 0, "nurse", session.Language(""), "nurse", session.French),
		Entry("the only language of the job", 0, "buyer", session.Language(""), "buyer", session.English),
		Entry("the only job", 2, "", session.Language(""), "buyer", session.English),
	)

	DescribeTable("is refused, with the known ones", func(ctx context.Context, id string, l session.Language, code interview.Code, want string) {
		failed := refusal(start(ctx, id, l))
		Expect(failed.Code).To(Equal(code))
		Expect(failed.Message).To(Equal(want))
		Expect(r.store.List(ctx, session.Listing{})).To(BeEmpty())
	},
		Entry("none of several is named", "", session.English, interview.CodeUnknownJob, `job: name one of ["nurse" "buyer"]`),
		Entry("unknown", "pilot", session.English, interview.CodeUnknownJob, `job: there is no "pilot"; there are nurse, buyer`),
		Entry("misspelled", "byer", session.English, interview.CodeUnknownJob, `job: there is no "byer"; did you mean buyer?`),
		Entry("not described in the language", "buyer", session.French, interview.CodeInvalid, `language: the job "buyer" is described in ["en"] only`),
	)

	It("cannot be two for one id and language", func() {
		_, err := interview.New(interview.Options{}, interview.Deps{
			Store: r.store, Clock: r.clock, Backend: llm.BackendFunc(nil), Jobs: []session.Job{job("a", session.French), job("a", session.French)},
		})
		Expect(err).To(MatchError(`two jobs have the id "a" and the language fr`))
	})

	It("stays that of its start after a restart with other jobs", func(ctx context.Context) {
		tom := meet("tom")
		first := tom.begin()
		first.Job = "buyer"
		s := r.serve()
		v := tom.walk(ctx, s, handle(ctx, s, first), func(v interview.View) bool { return v.Kind == session.KindPreamble })
		Expect(told(r.calls[0])).To(Equal("mission of buyer"))
		before := r.ledger(v.SessionID)[0].Prompt

		changed := job("buyer", session.English)
		changed.Mission = "another mission"
		for _, jobs := range [][]session.Job{{changed}, {job("pilot", session.English)}} {
			r.jobs = jobs
			s = r.serve()
			Expect(handle(ctx, s, interview.Submission{Session: v.SessionID, Event: interview.EventResume}).MessageID).To(Equal(v.MessageID))
		}
		tom.walk(ctx, s, v, nil)
		last := r.calls[len(r.calls)-1]
		Expect(last.Purpose).To(Equal("matching"))
		Expect(told(last)).To(Equal("mission of buyer"))
		for _, call := range r.ledger(v.SessionID) {
			Expect(call.Prompt).To(Equal(before))
		}
	})

	It("is the shipped one in a session from before jobs could be chosen", func(ctx context.Context) {
		tom := meet("tom")
		first := tom.begin()
		first.Job = "buyer"
		s := r.serve()
		v := handle(ctx, s, first)
		old, err := r.store.Load(ctx, v.SessionID)
		Expect(err).NotTo(HaveOccurred())
		old.Job = nil
		_, err = r.store.Commit(ctx, old, session.Change{})
		Expect(err).NotTo(HaveOccurred())
		tom.walk(ctx, s, v, func(v interview.View) bool { return v.Kind == session.KindPreamble })
		Expect(told(r.calls[0])).To(Equal(prompt.ShippedJobs()[1].Mission))
	})
})
