package stop

import (
	"math"
	"slices"
	"sort"

	"github.com/rehearse-dev/rehearse/agents/stop/internal/grammar"
	"github.com/rehearse-dev/rehearse/agents/stop/internal/text"
)

// defaultThreshold is the score from which a message defers.
const defaultThreshold = 0.5

// maxMentions is how many mentions are kept, maxDetections how many of them a
// verdict lists; the reason counts the others.
const (
	maxMentions   = 1000
	maxDetections = 200
)

// Judge judges a message. It never fails and never panics: a text that says
// nothing may stop.
func Judge(message string, o Options) Verdict {
	if o.Policy == "" {
		o.Policy = Balanced
	}
	if o.Point == "" {
		o.Point = FinalAnswer
	}
	if !(o.Threshold > 0) {
		o.Threshold = defaultThreshold
	}
	r := readings.Get().(*reading)
	defer readings.Put(r)
	r.read(message)
	r.announcements()
	r.backlog()
	r.requests()
	r.state()
	r.gaps()
	r.approvals()
	return r.verdict(message, o)
}

// verdict weighs the evidence.
func (r *reading) verdict(message string, o Options) Verdict {
	score := 1 / (1 + math.Exp(-r.evidence.sum()))
	class := r.class(score >= o.Threshold)
	if class == Defers && !r.real {
		r.mentionSignal()
	}
	v := Verdict{
		Policy: o.Policy, Point: o.Point, Class: class, Score: score, Language: r.languageName(), NeedsApproval: r.approval,
		Policies:   map[Policy]bool{Balanced: class != Defers, Strict: !r.real && class != Defers},
		Detections: r.detections(message),
		Signals:    r.signals(message),
	}
	v.MayStop = v.Policies[o.Policy]
	if !v.MayStop && !r.approval {
		v.Steps = steps(r.doc, r.mentions, r.finishedItem)
	}
	v.Reason = r.reason(v)
	return v
}

// languageName returns the language that most of the message is in.
func (r *reading) languageName() string {
	if r.lang == french {
		return "fr"
	}
	return "en"
}

// shortGapSentences is up to how many sentences a message is short: what its end
// says is then what it is about.
const shortGapSentences = 8

// gaps weighs what the end of a message says is not done: all of the end of a
// short one, the last sentence of a longer one.
func (r *reading) gaps() {
	if r.evidence.seen(deicticOffer) && r.evidence.seen(failuresLeft) && !r.evidence.seen(knownFailures) {
		r.evidence.see(requestedOffer, r.evidence.at[deicticOffer]) // nobody wants tests that fail
	}
	if r.prose > shortGapSentences {
		r.endGap()
		return
	}
	for _, s := range [...]signal{proceedRequest, goOnRequest} {
		if r.prose <= 2 && r.evidence.seen(s) {
			r.evidence.see(shortGap, r.evidence.at[s])
		}
	}
	for _, s := range [...]signal{
		nextOwn, nextIs, leftSection, leftNear, undoneNear, comingNear, partialNear, needTail, restOfWork, openBoxes, pendingRows, laterWork,
	} {
		if r.evidence.seen(s) {
			r.evidence.see(shortGap, r.evidence.at[s])
			return
		}
	}
}

// endGap looks at the last sentence outside tables.
func (r *reading) endGap() {
	s := len(r.sentences) - 1
	for s > 0 && r.block(s).Kind == text.Table {
		s--
	}
	if r.hasAny(s, you, user, known, optional, condition, beyond, negation) && !r.has(s, undone) {
		return
	}
	for _, sig := range [...]signal{leftNear, undoneNear, comingNear, needTail} {
		at := r.sentenceSpan(s)
		if last := r.evidence.last[sig]; r.evidence.seen(sig) && last.Start >= at.Start && last.End <= at.End {
			r.evidence.see(endGap, last)
			return
		}
	}
}

// signalPattern begins the pattern of a mention that stands for a signal.
const signalPattern = "signal: "

// mentionSignal makes a mention of the signal that speaks most for deferral:
// every refusal rests on words of the message.
func (r *reading) mentionSignal() {
	heaviest := signals
	for s, d := range definitions {
		if r.evidence.count[s] > 0 && (heaviest == signals || d.Weight > definitions[heaviest].Weight) {
			heaviest = signal(s)
		}
	}
	if heaviest == signals {
		return // a threshold that even silence reaches
	}
	at := r.evidence.at[heaviest]
	s := sort.Search(len(r.sentences), func(i int) bool { return r.sentenceSpan(i).End >= at.End })
	s = min(s, len(r.sentences)-1)
	r.add(mention{
		category: RemainingTasks, pattern: signalPattern + definitions[heaviest].Name, span: at, sentence: s,
		block: r.doc.Sentences[s].Block, real: true, why: definitions[heaviest].Meaning, severity: Medium,
	})
}

// class returns what the message does.
func (r *reading) class(defers bool) Class {
	e := &r.evidence
	switch {
	case r.approval:
		return Asks
	case defers:
		return Defers
	case e.seen(asksInput) || e.seen(offersChoice):
		return Asks
	case slices.ContainsFunc([]signal{goOnRequest, proceedRequest, workOffer, nextOptional, nextUser, couldDo, userActs}, e.seen):
		return Suggests
	default:
		return Clean
	}
}

// signals returns the signals seen, heaviest first.
func (r *reading) signals(message string) []Signal {
	seen := 0
	for _, n := range r.evidence.count {
		if n > 0 {
			seen++
		}
	}
	all := slices.Grow([]Signal(nil), seen)
	for s, d := range definitions {
		if n := r.evidence.count[s]; n > 0 {
			at := r.evidence.at[s]
			all = append(all, Signal{
				Name: d.Name, Weight: d.Weight * float64(min(n, d.Most)), Count: min(n, d.Most), Span: at,
				Text: excerpt(message, at, 80),
			})
		}
	}
	slices.SortStableFunc(all, func(a, b Signal) int { return compareWeights(b.Weight, a.Weight) })
	return all
}

func compareWeights(a, b float64) int {
	a, b = math.Abs(a), math.Abs(b)
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	default:
		return 0
	}
}

// mention returns a mention of the phrase, not yet judged.
func (r *reading) mention(c Category, h grammar.Hit) mention {
	return mention{
		category: c, pattern: patternIDs()[h.Pattern], span: r.span(h.First, h.End),
		sentence: int(h.Sentence), block: r.doc.Sentences[h.Sentence].Block, severity: Low,
	}
}

// add adds a mention, unless there are too many.
func (r *reading) add(m mention) {
	if len(r.mentions) < maxMentions {
		r.mentions = append(r.mentions, m)
	}
	r.found++
	r.real = r.real || m.real
}

// detections returns the mentions in the order of the message.
func (r *reading) detections(message string) []Detection {
	if byStart := func(a, b mention) int { return a.span.Start - b.span.Start }; !slices.IsSortedFunc(r.mentions, byStart) {
		slices.SortStableFunc(r.mentions, byStart)
	}
	if len(r.mentions) == 0 {
		return nil
	}
	all := make([]Detection, 0, min(len(r.mentions), maxDetections))
	for _, m := range r.mentions[:cap(all)] {
		all = append(all, Detection{
			Category: m.category, Pattern: m.pattern, Span: m.span,
			Text: message[m.span.Start:m.span.End], Context: surroundings(message, m.span),
			Real: m.real, Why: m.why, Severity: m.severity,
		})
	}
	return all
}
