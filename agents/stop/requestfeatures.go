package stop

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/rehearse-dev/rehearse/agents/stop/internal/text"
)

// maxRequest is the length of the end of a request that is read, in characters. The requests
// that weights are fitted to are cut off there.
const maxRequest = 600

// readRequest reads the end of a request.
func readRequest(request string) *reading {
	start := len(request)
	for n := 0; start > 0 && n < maxRequest; n++ {
		_, size := utf8.DecodeLastRuneInString(request[:start])
		start -= size
	}
	q := readings.Get().(*reading)
	q.read(request[start:])
	return q
}

//go:embed lexicon/request.txt
var requestText string

// requestKinds returns the kinds of requests that each word marks.
var requestKinds = sync.OnceValue(func() map[string][]string {
	kinds := map[string][]string{}
	for line := range strings.Lines(requestText) {
		kind, words, found := strings.Cut(strings.TrimSpace(line), ": ")
		if !found || strings.HasPrefix(line, "#") {
			continue
		}
		for _, word := range strings.Fields(words) {
			kinds[word] = append(kinds[word], kind)
		}
	}
	return kinds
})

// shortRequest is the number of words up to which a request is short.
const shortRequest = 6

// kindsOfRequest returns the kinds of the request that r has read, such as "question, verb first" and "short".
func (r *reading) kindsOfRequest() []string {
	words, verb, first, asks := 0, false, false, false
	marked := map[string]bool{}
	for s := range r.sentences {
		for i, w := range r.words(s) {
			words++
			for _, kind := range requestKinds()[w.Fold] {
				switch kind {
				case "verb":
					verb, first = true, first || i == 0
				case "question-word":
					marked[kind] = marked[kind] || i == 0
				default:
					marked[kind] = true
				}
			}
		}
		if s >= len(r.sentences)-2 && r.doc.Sentences[s].Ending == text.Question {
			asks = true
		}
	}
	if words == 0 {
		return []string{"unknown"}
	}
	kind := "statement"
	if asks {
		kind = "question"
	}
	if first {
		kind += ", verb first"
	} else if verb {
		kind += ", verb"
	}
	kinds := []string{kind}
	if words <= shortRequest {
		kinds = append(kinds, "short")
	}
	for _, kind := range []string{"question-word", "analysis", "error", "go-on"} {
		if marked[kind] {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// requestFeatures calls add for each feature of the request, and of the message beside it.
func (r *reading) requestFeatures(q *reading, add func(Feature)) {
	kinds := q.kindsOfRequest()
	for _, kind := range kinds {
		add(Feature{Group: RequestFeatures, Name: "request: " + kind, Value: 1})
	}
	r.crossFeatures(kinds, add)
	asked := map[uint64]bool{}
	for s := range q.sentences {
		q.contentTokens(s, asked)
	}
	if len(asked) == 0 {
		return
	}
	last := len(r.sentences) - 1
	for _, part := range [...]struct {
		name  string
		share bool // the share itself is a feature, too
		steps bool // the share reaches a step
		in    func(s int) bool
	}{
		{"message", true, false, func(int) bool { return true }},
		{"end", true, true, func(s int) bool { return s >= last-3 }},
		{"last sentence", true, true, func(s int) bool { return s == last }},
		{"open work", false, true, func(s int) bool { return r.hasAny(s, next, left, offers, could, goOn, proceed) }},
	} {
		share := r.overlap(asked, part.in)
		if part.share && share > 0 {
			add(Feature{Group: RequestFeatures, Name: "request in " + part.name, Value: share})
		}
		for _, least := range [...]float64{0.1, 0.25, 0.5} {
			if part.steps && share >= least {
				add(Feature{Group: RequestFeatures, Name: fmt.Sprintf("request in %s: %g or more", part.name, least), Value: 1})
			}
		}
	}
}

// overlap returns the share of the distinct content words of some sentences that the request has.
func (r *reading) overlap(asked map[uint64]bool, in func(s int) bool) float64 {
	tokens := map[uint64]bool{}
	for s := range r.sentences {
		if in(s) {
			r.contentTokens(s, tokens)
		}
	}
	common := 0
	for t := range tokens {
		if asked[t] {
			common++
		}
	}
	return float64(common) / float64(max(1, len(tokens)))
}

// contentTokens adds the tokens of the words of a sentence that have more than three letters.
func (r *reading) contentTokens(s int, tokens map[uint64]bool) {
	words := r.words(s)
	for i := range words {
		if len(words[i].Fold) > 3 {
			tokens[wordToken(&words[i])] = true
		}
	}
}

// crossFeatures calls add for each pair of a signal, or the absence of a report of completion,
// and a kind of request.
func (r *reading) crossFeatures(kinds []string, add func(Feature)) {
	seen := make([]string, 0, 16)
	for s, d := range definitions {
		if r.evidence.seen(signal(s)) {
			seen = append(seen, d.Name)
		}
	}
	completion := "not completed"
	if r.evidence.seen(completed) {
		completion = "is completed"
	}
	seen = append(seen, completion, fmt.Sprint("last block ", r.lastKind()))
	offered := slices.ContainsFunc([]signal{workOffer, deicticOffer, proceedRequest, goOnRequest}, r.evidence.seen)
	if offered {
		seen = append(seen, "offered, "+completion)
	}
	for _, name := range seen {
		for _, kind := range kinds {
			add(Feature{Group: CrossFeatures, Hash: fold32(mix(mix(crossSeed, nameToken(name)), nameToken(kind))), Value: crossScale})
		}
	}
}

// lastKind returns the kind of the last block.
func (r *reading) lastKind() text.Kind {
	if len(r.doc.Blocks) == 0 {
		return text.Rule
	}
	return r.doc.Blocks[len(r.doc.Blocks)-1].Kind
}
