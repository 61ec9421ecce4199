package audit_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/agents/interview/audit"
	"github.com/rehearse-dev/rehearse/agents/interview/kind"
	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/reports/doc"
)

// render returns an audit as JSON or HTML.
func render(a audit.Audit, how func(w *bytes.Buffer, a audit.Audit) error) string {
	var b bytes.Buffer
	ExpectWithOffset(1, how(&b, a)).To(Succeed())
	return b.String()
}

func asJSON(w *bytes.Buffer, a audit.Audit) error { return audit.JSON(w, a) }
func asHTML(w *bytes.Buffer, a audit.Audit) error { return doc.HTML(w, kind.AuditDocument(a), "") }

// of returns the sums of one purpose.
func of(a audit.Audit, p session.Purpose) audit.Group {
	for _, g := range a.Purposes {
		if g.Name == string(p) {
			return g
		}
	}
	return audit.Group{}
}

var _ = Describe("the audit", Label("I-15"), func() {
	It("adds up a golden path", func() {
		a := audit.Of(taken(-1, nil).Data, options())
		Expect(a.Verdict).To(Equal(audit.Pass))
		Expect(a.Session.Status).To(BeEquivalentTo("finished"))
		Expect(a.Contract.Golden).To(BeTrue())
		Expect(a.Contract.Sentence()).To(Equal("exactly the 24 calls that an interview needs"))
		// 2 + 9*3 + 3*1 + 9*4 + 14 + 9 thousandths.
		Expect(*a.Total.Cost.Amount).To(BeNumerically("~", 0.091, 1e-12))
		// (2.1 + 9*3.4 + 3*1.8 + 9*2.6 + 11.2 + 7.3) / 24 seconds.
		Expect(*a.Total.Latency.Mean).To(BeNumerically("~", 80.0/24, 1e-9))
		Expect(*a.Total.Latency.P50).To(Equal(2.6))
		Expect(*a.Total.Latency.Max).To(Equal(11.2))
		Expect(*of(a, session.PurposeMirror).Cost.Amount).To(BeNumerically("~", 0.036, 1e-12))
		Expect(of(a, session.PurposeAdaptive).Tokens.Counted).To(And(HaveField("Input", 3300), HaveField("Output", 150)))
		Expect(*a.Rejected.Value).To(BeZero())
		Expect(a.Rejected.Interval.Hi).To(BeNumerically("~", 0.138, 0.001), "0 of 24 is not certainty")
		Expect(a.Prompts).To(Equal([]audit.Used{{Name: "1@0123456789ab", Calls: 24}}))
	})

	It("counts wasted calls and keeps unknown costs unknown", func() {
		a := audit.Of(troubled(), options())
		Expect(a.Verdict).To(Equal(audit.Pass), "trouble is no contradiction")
		Expect(a.Contract.Golden).To(BeFalse())
		Expect(a.Contract.Verdict).To(Equal(audit.Pass))
		Expect(a.Contract.Sentence()).To(Equal("the 24 calls that an interview needs were used, and 3 were wasted"))
		Expect(a.Total.Outcomes).To(And(HaveField("Accepted", 24), HaveField("Rejected", 1), HaveField("Broken", 1), HaveField("Lost", 1), HaveField("Begun", 0)))
		Expect(a.Total.Cost.Amount).To(BeNil(), "a lost call may have been paid for")
		Expect(a.Total.Cost.Unknown).To(Equal(1))
		Expect(a.Total.Cost.AtLeast).To(BeNumerically("~", 0.095, 1e-12))
		Expect(a.Total.Latency.N).To(Equal(25), "answers only")
		Expect([]int{a.Rejected.Hits, a.Rejected.Of, a.Broken.Hits, a.Broken.Of, a.Trimmed.Hits, a.Trimmed.Of}).
			To(Equal([]int{1, 25, 1, 26, 2, 27}))
		Expect(a.Repeated).To(ConsistOf(HaveField("Repeats", 3)))
		Expect(a.Warnings).To(ConsistOf(HaveField("Call", 17)))
		Expect(a.Total.Tokens.Unexplained).To(Equal(1))
		Expect(a.Total.Tokens.Reported.Input).To(Equal(a.Total.Tokens.Counted.Input + 400))
	})

	It("shows both numbers of tokens and how far they are apart, however little that is", func() {
		i := taken(-1, nil)
		for n := range i.Calls {
			i.Calls[n].Reported.Input -= 9
			i.Calls[n].Reported.Output++
		}
		a := audit.Of(i.Data, options())
		t := a.Total.Tokens
		Expect([]int{t.Compared, t.Differ, t.Unexplained}).To(Equal([]int{24, 24, 0}))
		Expect(t.Difference).To(And(HaveField("Input", -9*24), HaveField("Output", 24)))
		Expect(t.Reported.Input - t.Counted.Input).To(Equal(t.Difference.Input))
		Expect(a.Calls).To(HaveEach(HaveField("Difference", And(HaveField("Input", -9), HaveField("Output", 1)))))
		page := render(a, asHTML)
		Expect(page).To(ContainSubstring("-216 in, +24 out; 24 of 24 calls differ, 0 by more than"))
	})

	It("computes each cost from the tokens that it shows", func() {
		o := options()
		o.Price = func(_ string, u llm.Usage) (quantity.Money, bool) {
			return quantity.Money{Amount: float64(u.Input)*1e-6 + float64(u.Output)*5e-6, Currency: quantity.EUR}, true
		}
		i := taken(-1, func(i *interview) {
			if len(i.Calls) == 4 {
				c := i.call(session.Broken)
				c.Reported, c.Counted.Output = nil, 0
			}
		})
		for n := range i.Calls {
			if i.Calls[n].Reported != nil {
				i.Calls[n].Reported.Input -= 400 // only these are billed
			}
		}
		a := audit.Of(i.Data, o)
		billed := a.Total.Tokens.Billed
		Expect(*a.Total.Cost.Amount).To(BeNumerically("~", float64(billed.Input)*1e-6+float64(billed.Output)*5e-6, 1e-12))
		for _, c := range a.Calls {
			Expect(*c.Amount).To(BeNumerically("~", float64(c.Billed.Input)*1e-6+float64(c.Billed.Output)*5e-6, 1e-12), "call %d", c.N)
		}
		Expect(a.Calls[4].Billed).To(BeZero(), "nothing was answered")
	})

	It("lists fallback texts, which fulfil the contract", func() {
		i := taken(-1, nil)
		last := len(i.Calls) - 1
		i.Calls[last].Outcome, i.Calls[last].Fault = session.Rejected, "status-missing"
		i.Messages[len(i.Messages)-1].Call = 0
		i.Session.Fallbacks = []session.Fallback{{
			Purpose: session.PurposeMatching, Step: session.Matching, Message: len(i.Messages), Refused: 4, Rule: "status-missing",
		}}
		a := audit.Of(i.Data, options())
		Expect(a.Verdict).To(Equal(audit.Pass))
		Expect(a.Contract.Golden).To(BeFalse())
		Expect(a.Contract.Sentence()).To(Equal("23 calls and 1 fallback text were used for the 24 texts of an interview; wasted calls: 1"))
		Expect(render(a, asHTML)).To(ContainSubstring("status-missing in 4 texts"))
		i.Session.Fallbacks = append(i.Session.Fallbacks, i.Session.Fallbacks[0])
		Expect(audit.Of(i.Data, options()).Contract.Verdict).To(Equal(audit.Fail))
	})

	It("names the reached limit of a session", func() {
		i := taken(2, nil)
		i.Session.Phase = session.Owing
		i.Session.Owed = &session.Owed{Purpose: session.PurposePreamble, Failed: "session_limit", Limit: "cost"}
		Expect(audit.Of(i.Data, options()).Session).To(And(HaveField("Status", BeEquivalentTo("limited")), HaveField("Limit", "cost")))
	})

	It("reports an interview without answers and without invented figures", func() {
		a := audit.Of(begin().Data, options())
		Expect(a.Session.Status).To(BeEquivalentTo("open"))
		Expect(a.Contract.Verdict).To(Equal(audit.Skip))
		Expect(a.Total.Latency.Mean).To(BeNil())
		Expect(a.Rejected.Value).To(BeNil())
		Expect(render(a, asHTML)).To(ContainSubstring("<dt>mean latency</dt><dd>n/a"))
		Expect(render(a, asJSON)).NotTo(ContainSubstring("null,\n    \"interval\""))
	})

	It("reports an owed message with failed calls", func() {
		i := taken(2, nil)
		i.Session.Phase = session.Owing
		i.Session.Owed = &session.Owed{Purpose: session.PurposePreamble}
		Expect(audit.Of(i.Data, options()).Session.Status).To(BeEquivalentTo("owing"))
		i.Session.Owed.Failed = "backend_failed"
		Expect(audit.Of(i.Data, options()).Session).To(And(
			HaveField("Status", BeEquivalentTo("stuck")), HaveField("Failed", "backend_failed")))
	})

	It("converts costs at the given rate, and knows none without one", func() {
		i := taken(-1, nil)
		i.Calls[0].Cost = &quantity.Money{Amount: 0.01, Currency: quantity.USD}
		Expect(*audit.Of(i.Data, options()).Calls[0].Amount).To(BeNumerically("~", 0.0086, 1e-12))
		o := options()
		o.EURPerUSD = 0
		Expect(audit.Of(i.Data, o).Calls[0].Amount).To(BeNil())
		Expect(audit.Of(i.Data, o).Total.Cost.Amount).To(BeNil())
		o.Currency, o.EURPerUSD = quantity.USD, 0.5
		Expect(*audit.Of(i.Data, o).Calls[1].Amount).To(BeNumerically("~", 0.006, 1e-12))
	})

	It("reports a broken contract if a finished interview has more or fewer texts", func() {
		i := taken(-1, nil)
		i.Calls[5].Outcome = session.Rejected
		a := audit.Of(i.Data, options())
		Expect(a.Contract.Verdict).To(Equal(audit.Fail))
		Expect(a.Contract.Sentence()).To(Equal("23 calls were used, but an interview needs 24"))
		Expect(a.Verdict).To(Equal(audit.Fail))
	})

	It("breaks the contract where nothing else is wrong", func() {
		i := taken(9, nil)
		i.Session.Phase = session.Finished
		a := audit.Of(i.Data, options())
		Expect(a.Contract.Verdict).To(Equal(audit.Fail))
		Expect(a.Checks).NotTo(ContainElement(HaveField("Verdict", audit.Fail)))
		Expect(a.Verdict).To(Equal(audit.Fail))
	})

	It("breaks the contract as soon as there is one text too many", func() {
		i := taken(9, nil)
		i.Calls = append(i.Calls, i.Calls[0])
		Expect(audit.Of(i.Data, options()).Contract.Verdict).To(Equal(audit.Fail))
	})

	It("lists its links for operators, and only their own for readers of a link", func() {
		d := troubled()
		d.Shares = []session.Share{
			{Hash: session.HashShare("a"), Session: sessionID, For: "works council", Created: began, Expires: began.Add(time.Hour), Opened: 2},
			{Hash: session.HashShare("b"), Session: sessionID, For: "auditor", Created: began, Expires: began.Add(time.Hour), Revoked: true},
		}
		o := options()
		for _, kind := range []func(*bytes.Buffer, audit.Audit) error{asJSON, asHTML} {
			page := render(audit.Of(d, o), kind)
			Expect(page).To(And(ContainSubstring("works council"), ContainSubstring("auditor")))
			Expect(page).NotTo(Or(ContainSubstring(sessionID), ContainSubstring(d.Shares[0].Hash)))
		}
		o.Share = &d.Shares[0]
		for _, kind := range []func(*bytes.Buffer, audit.Audit) error{asJSON, asHTML} {
			page := render(audit.Of(d, o), kind)
			Expect(page).To(And(ContainSubstring("works council"), Not(ContainSubstring("auditor"))))
			Expect(page).NotTo(Or(ContainSubstring(sessionID), ContainSubstring(d.Shares[0].Hash)))
		}
	})

	It("contains texts only on request", func() {
		d := troubled()
		for i := range d.Answers {
			d.Answers[i].Text = "CONFIDENTIAL"
			d.Messages[d.Answers[i].Message-1].Text = "CONFIDENTIAL"
		}
		for i := range d.Queues {
			d.Queues[i].Questions[0] += "CONFIDENTIAL"
		}
		for i := range d.Calls {
			if d.Calls[i].Outcome == session.Broken {
				d.Calls[i].Detail += "CONFIDENTIAL"
			}
		}
		d.Session.Works, d.Session.CoreWork = []string{"CONFIDENTIAL"}, "CONFIDENTIAL"
		d.Messages[8].Text = "CONFIDENTIAL"
		a := audit.Of(d, options())
		Expect(a.Session.ID).To(Equal(sessionID[:8]), "the whole id opens the interview")
		Expect(render(a, asHTML)).NotTo(ContainSubstring(sessionID))
		Expect(a.Verdict).To(Equal(audit.Fail), "the problems that are found are told, too")
		Expect(render(a, asJSON)).NotTo(ContainSubstring("CONFIDENTIAL"))
		Expect(render(a, asHTML)).NotTo(ContainSubstring("CONFIDENTIAL"))
		o := options()
		o.Texts = true
		Expect(audit.Of(d, o).Session.ID).To(Equal(sessionID[:8]))
		Expect(render(audit.Of(d, o), asJSON)).To(ContainSubstring("CONFIDENTIAL"))
		d.Messages[8].Text = "My page is /s/" + sessionID + ", my link /r/" + strings.Repeat("ab2", 20) + ", my code K7QM-9TXR-4BWD, " +
			"and I came by /?invite=ABCDEFGHIJKLMNOPQRSTUVWXYZ, on 2026-11-12"
		Expect(render(audit.Of(d, o), asJSON)).To(ContainSubstring(
			"My page is /s/[id], my link [access], my code [access], and I came by /?[access], on 2026-11-12"))
		o.Redact = func(s string) string { return strings.ReplaceAll(s, "CONFIDENTIAL", "…") }
		Expect(render(audit.Of(d, o), asJSON)).NotTo(ContainSubstring("CONFIDENTIAL"))
	})

	It("survives a round trip through JSON", func() {
		o := options()
		o.Texts = true
		a := audit.Of(troubled(), o)
		text := render(a, asJSON)
		var back audit.Audit
		Expect(json.Unmarshal([]byte(text), &back)).To(Succeed())
		Expect(render(back, asJSON)).To(Equal(text))
		golden.Expect("audit.json", []byte(text))
	})

	It("gives times in UTC whatever the store's zone", func() {
		here, away := troubled(), troubled()
		zone := time.FixedZone("", 3600)
		for i := range away.Messages {
			away.Messages[i].At = away.Messages[i].At.In(zone)
		}
		for i := range away.Calls {
			away.Calls[i].At = away.Calls[i].At.In(zone)
		}
		away.Session.Created, away.Session.Updated = away.Session.Created.In(zone), away.Session.Updated.In(zone)
		Expect(render(audit.Of(away, options()), asJSON)).To(Equal(render(audit.Of(here, options()), asJSON)))
	})

	It("does not change its input", func() {
		d := troubled()
		before, err := json.Marshal(d)
		Expect(err).NotTo(HaveOccurred())
		_ = render(audit.Of(d, options()), asHTML)
		Expect(json.Marshal(d)).To(Equal(before))
	})
})

var _ = Describe("the checks", func() {
	// broken lists the checks that fail.
	broken := func(d audit.Data) []string {
		var names []string
		for _, c := range audit.Of(d, options()).Checks {
			if c.Verdict == audit.Fail {
				names = append(names, c.Name)
				Expect(c.Problems).NotTo(BeEmpty())
				Expect(c.Found).To(BeNumerically(">=", len(c.Problems)))
			}
		}
		return names
	}

	It("pass at every point of an interview, with every trouble", Label("I-03", "I-04", "I-18"), func() {
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			i := begin()
			i.vague = map[session.Step]int{
				session.Tone: rapid.IntRange(0, 2).Draw(t, "vague"), session.Block2A: rapid.IntRange(0, 2).Draw(t, "vaguer"),
			}
			i.before = func(i *interview) {
				for rapid.IntRange(0, 4).Draw(t, "more") == 0 {
					outcome := rapid.SampledFrom([]session.Outcome{session.Rejected, session.Broken, session.Lost}).Draw(t, "outcome")
					if last := len(i.Calls) - 1; last >= 0 && i.Calls[last].Outcome == session.Lost {
						i.call(outcome).Repeats = last + 1
						continue
					}
					i.call(outcome)
				}
			}
			i.on(rapid.IntRange(0, 60).Draw(t, "inputs"))
			if i.Session.Phase != session.Finished && rapid.Bool().Draw(t, "no reply yet") {
				i.say()
			}
			if got := broken(i.Data); got != nil {
				t.Fatalf("%v", got)
			}
		})
	})

	DescribeTable("each find their kind of error",
		func(name string, damage func(d *audit.Data)) {
			d := troubled()
			damage(&d)
			Expect(broken(d)).To(ContainElement(name))
		},
		Entry("a message is missing", "message-order", func(d *audit.Data) { d.Messages = append(d.Messages[:7], d.Messages[8:]...) }),
		Entry("a message has another's number", "message-order", func(d *audit.Data) { d.Messages[7].Seq = 99 }),
		Entry("a message is older than the one before", "message-order", func(d *audit.Data) { d.Messages[7].At = began }),
		Entry("the session counts them wrong", "message-order", func(d *audit.Data) { d.Session.Messages++ }),
		Entry("more is shown than there is", "message-order", func(d *audit.Data) { d.Session.Shown = 1000 }),
		Entry("two questions at once", "one-question-at-once", func(d *audit.Data) {
			d.Messages[6] = d.Messages[5]
			d.Messages[6].Seq = 7
		}),
		Entry("a second answer to a question", "one-answer-per-question", func(d *audit.Data) { d.Answers = append(d.Answers, d.Answers[4]) }),
		Entry("one message for two answers", "one-answer-per-question", func(d *audit.Data) { d.Answers[4].Message = d.Answers[5].Message }),
		Entry("an answer that was never said", "answers-are-messages", func(d *audit.Data) { d.Answers[4].Text += "." }),
		Entry("an answer from nowhere", "answers-are-messages", func(d *audit.Data) { d.Answers[4].Message = 999 }),
		Entry("an answer to another question", "answers-are-messages", func(d *audit.Data) { d.Messages[d.Answers[4].Message-1].Question++ }),
		Entry("an answer that the service said", "answers-are-messages", func(d *audit.Data) { d.Messages[d.Answers[4].Message-1].Role = "assistant" }),
		Entry("an answer in another step", "answers-are-messages", func(d *audit.Data) { d.Messages[d.Answers[4].Message-1].Step = session.Block5 }),
		Entry("a comment on no mirror", "answers-are-messages", func(d *audit.Data) { d.Messages[d.Answers[5].Message-1].Kind = session.KindQuestion }),
		Entry("an identity of another question", "answers-are-messages", func(d *audit.Data) { d.Answers[0].Index = 3 }),
		Entry("a lost answer", "no-answer-lost", func(d *audit.Data) { d.Answers = append(d.Answers[:4], d.Answers[5:]...) }),
		Entry("a lost tone", "no-answer-lost", func(d *audit.Data) { d.Answers = append(d.Answers[:1], d.Answers[2:]...) }),
		Entry("a cursor behind", "queues-agree", func(d *audit.Data) { d.Queues[0].Cursor-- }),
		Entry("a cursor beyond", "queues-agree", func(d *audit.Data) { d.Queues[0].Cursor++ }),
		Entry("a queue that is not complete", "queues-agree", func(d *audit.Data) { d.Queues[3].Complete = false }),
		Entry("an answer without a queue", "queues-agree", func(d *audit.Data) { d.Queues = d.Queues[1:] }),
		Entry("another question than was queued", "served-from-queue", func(d *audit.Data) { d.Queues[0].Questions[1] += "?" }),
		Entry("questions out of order", "served-from-queue", func(d *audit.Data) { d.Messages[7].Question, d.Messages[9].Question = 2, 1 }),
		Entry("a question that is passed over", "served-from-queue", func(d *audit.Data) {
			d.Messages[7].Question, d.Messages[7].Text = 2, d.Queues[0].Questions[2]
		}),
		Entry("a question that was never queued", "served-from-queue", func(d *audit.Data) { d.Messages[7].Question = 7 }),
		Entry("a call for a queued question", "no-call-for-queued", func(d *audit.Data) { d.Messages[7].Call = 2 }),
		Entry("a call for a batch that is there", "no-call-for-queued", func(d *audit.Data) { d.Calls[2] = d.Calls[1] }),
		Entry("a better text is tried for after the first is shown", "no-call-for-queued", func(d *audit.Data) {
			d.Calls[1].Warnings = []string{"long"}
			d.Calls = append(d.Calls, d.Calls[1])
			last := &d.Calls[len(d.Calls)-1]
			last.N, last.Outcome, last.At = len(d.Calls), session.Rejected, d.Session.Updated
		}),
		Entry("a text of a rejected call", "one-call-per-text", func(d *audit.Data) { d.Calls[1].Outcome = session.Rejected }),
		Entry("a text of another step", "one-call-per-text", func(d *audit.Data) { d.Calls[1].Step = session.Block5 }),
		Entry("a paid text that is not shown", "one-call-per-text", func(d *audit.Data) { d.Messages[5].Call = 0 }),
		Entry("a call is missing", "ledger-order", func(d *audit.Data) { d.Calls = append(d.Calls[:2], d.Calls[3:]...) }),
		Entry("a call has another's number", "ledger-order", func(d *audit.Data) { d.Calls[25].N = 99 }),
		Entry("no attempt", "ledger-order", func(d *audit.Data) { d.Calls[2].Attempt = 0 }),
		Entry("the session counts calls wrong", "ledger-order", func(d *audit.Data) { d.Session.Calls-- }),
		Entry("a call again that was not lost", "repeats", func(d *audit.Data) { d.Calls[4].Repeats = 2 }),
		Entry("a lost call twice again", "repeats", func(d *audit.Data) { d.Calls[4].Repeats = 3 }),
		Entry("a call again that is lost later", "repeats", func(d *audit.Data) { d.Calls[3].Repeats, d.Calls[1].Repeats = 0, 3 }),
		Entry("an unexpected call in flight", "in-flight", func(d *audit.Data) { d.Calls[4].Outcome = session.Begun }),
		Entry("an owed call that ended", "in-flight", func(d *audit.Data) { d.Session.Owed = &session.Owed{InFlight: 3} }),
		Entry("something owed that is not said", "in-flight", func(d *audit.Data) { d.Session.Phase = session.Owing }),
	)

	DescribeTable("see where a queue stands that is not complete",
		func(damage func(q *session.Queue)) {
			i := taken(9, nil)
			q := &i.Queues[len(i.Queues)-1]
			Expect(q.Step).To(Equal(i.Session.Step))
			Expect(q.Cursor).To(BeNumerically(">", 0))
			damage(q)
			Expect(broken(i.Data)).To(ContainElement("queues-agree"))
		},
		Entry("behind its answers", func(q *session.Queue) { q.Cursor-- }),
		Entry("before its start", func(q *session.Queue) { q.Cursor = -1 }),
		Entry("beyond its end", func(q *session.Queue) { q.Cursor = 7 }),
	)

	It("let a better text be tried for while a usable one waits", func() {
		d := troubled()
		first, second := &d.Calls[11], &d.Calls[12]
		first.Outcome, first.Warnings = session.Accepted, []string{"section 1 has 22 words, 20 are wanted"}
		second.Outcome = session.Rejected
		for i := range d.Messages {
			if d.Messages[i].Call == second.N {
				d.Messages[i].Call = first.N
			}
		}
		Expect(broken(d)).To(BeEmpty())
	})

	It("list no more problems than can be read", func() {
		d := troubled()
		for i := range d.Messages {
			d.Messages[i].Seq += 1000
		}
		for _, c := range audit.Of(d, options()).Checks {
			Expect(len(c.Problems)).To(BeNumerically("<=", 20))
		}
	})
})
