package stop

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/rehearse-dev/rehearse/agents/stop/internal/grammar"
)

// maxMentions is how many mentions are kept, maxDetections how many of them a
// verdict lists; the reason counts the others.
const (
	maxMentions   = 1000
	maxDetections = 200
)

// Judge judges a message. It never fails and never panics: an empty text may stop.
func Judge(message string, o Options) Verdict {
	o.Policy, o.Point = cmp.Or(o.Policy, Balanced), cmp.Or(o.Point, FinalAnswer)
	if o.Weights == nil {
		o.Weights = ShippedWeights()
	}
	r := readMessage(message)
	defer readings.Put(r)
	q := readRequest(o.Request)
	defer readings.Put(q)
	return r.verdict(message, q, o)
}

// readMessage reads a message and finds its signals.
func readMessage(message string) *reading {
	r := readings.Get().(*reading)
	r.read(message)
	r.announcements()
	r.backlog()
	r.requests()
	r.state()
	r.gaps()
	r.approvals()
	return r
}

// verdict weighs the evidence; q is the request.
func (r *reading) verdict(message string, q *reading, o Options) Verdict {
	found := r.estimate(q, o.Weights)
	score := found.probabilities[0]
	limit := map[Policy]float64{}
	for _, p := range Policies() {
		limit[p] = threshold(o.Weights, p)
	}
	if o.Threshold > 0 {
		limit[o.Policy] = o.Threshold
	}
	v := Verdict{
		Policy: o.Policy, Point: o.Point, Score: score, Class: r.class(score >= limit[Balanced], found), Language: r.languageName(),
		NeedsApproval: r.approval, Probabilities: map[Class]float64{}, Policies: map[Policy]bool{},
	}
	for c, p := range found.probabilities {
		v.Probabilities[classOrder[c]] = p
	}
	refused := false
	for p, least := range limit {
		switch {
		case r.approval:
			v.Policies[p] = p != Strict
		case p == Strict && !(o.Threshold > 0) && !r.real:
			v.Policies[p] = score < limit[Balanced] // nothing is named that could be left undone
		default:
			v.Policies[p] = score < least
		}
		refused = refused || !v.Policies[p]
	}
	if refused && !r.real {
		r.mentionSignal(o.Weights)
	}
	v.Detections, v.Signals = r.detections(message), r.signals(message, found)
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

// gaps finds short messages that say that work is not done.
func (r *reading) gaps() {
	if r.evidence.seen(deicticOffer) && r.evidence.seen(failuresLeft) && !r.evidence.seen(knownFailures) {
		r.evidence.see(requestedOffer, r.evidence.at[deicticOffer]) // nobody wants tests that fail
	}
	if r.prose > shortGapSentences {
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

// signalPattern begins the pattern of a mention that stands for a signal.
const signalPattern = "signal: "

// mentionSignal makes a mention of the signal that speaks most for deferral, or of the last
// sentence if only words do: every refusal rests on words of the message.
func (r *reading) mentionSignal(w *Weights) {
	if len(r.sentences) == 0 {
		return
	}
	heaviest, most := signals, 0.0
	for s, d := range definitions {
		if weight := w.Named[d.Name][0]; r.evidence.count[s] > 0 && weight > most {
			heaviest, most = signal(s), weight
		}
	}
	m := mention{category: RemainingTasks, real: true, severity: Medium}
	if heaviest == signals {
		m.sentence = len(r.sentences) - 1
		m.pattern, m.span = signalPattern+"words", r.sentenceSpan(m.sentence)
		m.why = "its words are like those of messages that leave work undone"
	} else {
		at := r.evidence.at[heaviest]
		m.sentence = sort.Search(len(r.sentences), func(i int) bool { return r.sentenceSpan(i).End >= at.End })
		m.sentence = min(m.sentence, len(r.sentences)-1)
		m.pattern, m.why, m.span = signalPattern+definitions[heaviest].Name, definitions[heaviest].Meaning, at
	}
	m.block = r.doc.Sentences[m.sentence].Block
	r.add(m)
}

// class returns what the message does: what a person must approve asks, and a message that
// does not defer has the most probable of the other classes.
func (r *reading) class(defers bool, found estimate) Class {
	if r.approval {
		return Asks
	}
	if defers {
		return Defers
	}
	best := 1
	for c := 2; c < len(classOrder); c++ {
		if found.probabilities[c] > found.probabilities[best] {
			best = c
		}
	}
	return classOrder[best]
}

// signals returns the parts of the log-odds of the score, heaviest first: the signals, the
// words, the request and the bias.
func (r *reading) signals(message string, found estimate) []Signal {
	all := make([]Signal, 0, len(found.signals)+4)
	for s, d := range definitions {
		if n := r.evidence.count[s]; n > 0 {
			at := r.evidence.at[s]
			all = append(all, Signal{
				Name: d.Name, Weight: found.signals[d.Name], Count: min(n, d.Most), Span: at, Text: excerpt(message, at, 80),
			})
		}
	}
	for _, rest := range [...]Signal{
		{Name: approvalFeature, Weight: found.signals[approvalFeature]},
		{Name: "words", Weight: found.words},
		{Name: "request", Weight: found.request},
		{Name: "bias", Weight: found.bias},
	} {
		if rest.Weight != 0 {
			rest.Count = 1
			all = append(all, rest)
		}
	}
	slices.SortStableFunc(all, func(a, b Signal) int { return cmp.Compare(math.Abs(b.Weight), math.Abs(a.Weight)) })
	return all
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
