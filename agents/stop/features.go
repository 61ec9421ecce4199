package stop

import (
	"math"
	"slices"

	"github.com/rehearse-dev/rehearse/agents/stop/internal/text"
)

// FeatureGroup is a group of features, for measuring what each contributes.
type FeatureGroup uint8

// The groups.
const (
	SignalFeatures  FeatureGroup = iota // the signals of Table, and approval
	WordFeatures                        // runs of up to three words by their place in the message
	RequestFeatures                     // the request: its kind, its words, and how much of it the message speaks of
	CrossFeatures                       // a signal together with the kind of the request
)

// Feature is a property of a message, or of a message and the request that it answers.
// Weights are learned for features.
type Feature struct {
	Group FeatureGroup
	// Name identifies a feature that people can read; empty for runs of words and pairs, which
	// only have a hash.
	Name string
	// Hash identifies a feature without a name.
	Hash uint32
	// Value is at least 0.
	Value float64
}

// Features returns the features of a message that answers a request; the request is empty
// if it is unknown. Weights are fitted to them.
func Features(message, request string) []Feature {
	r := readMessage(message)
	defer readings.Put(r)
	q := readRequest(request)
	defer readings.Put(q)
	var all []Feature
	r.features(q, func(f Feature) { all = append(all, f) })
	return all
}

// Scales of the values of features. They were chosen by cross-validation.
const (
	wordScale         = 1.5  // of the square root of the number of runs in a place
	requestWordsScale = 0.75 // the same, of the request
	crossScale        = 0.3
)

// The places in which runs of words are counted, and the length of the longest run there.
var places = [...]struct {
	seed    uint64
	longest int
	in      func(r *reading, s int) bool
}{
	{1, 2, func(*reading, int) bool { return true }},
	{2, 3, func(r *reading, s int) bool { return s == len(r.sentences)-1 }},
	{3, 2, func(r *reading, s int) bool { return s >= len(r.sentences)-4 }},
	{4, 2, func(_ *reading, s int) bool { return s < 2 }},
	{5, 2, func(r *reading, s int) bool { return r.block(s).Kind == text.Heading }},
}

const (
	requestSeed = 6
	crossSeed   = 7
)

// features calls add for each feature of the message, given the request q.
func (r *reading) features(q *reading, add func(Feature)) {
	for s, d := range definitions {
		if n := r.evidence.count[s]; n > 0 {
			add(Feature{Group: SignalFeatures, Name: d.Name, Value: float64(min(n, d.Most))})
		}
	}
	if r.approval {
		add(Feature{Group: SignalFeatures, Name: approvalFeature, Value: 1})
	}
	var runs []uint32
	for _, place := range places {
		runs = runs[:0]
		for s := range r.sentences {
			if place.in(r, s) {
				runs = r.appendRuns(runs, s, place.seed, place.longest)
			}
		}
		addRuns(runs, WordFeatures, wordScale, add)
	}
	runs = runs[:0]
	for s := range q.sentences {
		runs = q.appendRuns(runs, s, requestSeed, 2)
	}
	addRuns(runs, RequestFeatures, requestWordsScale, add)
	r.requestFeatures(q, add)
}

// approvalFeature is the feature of a message that waits for an approval.
const approvalFeature = "approval"

// addRuns adds a feature for each distinct run of words of a place. The values get smaller
// with their number, so that long messages do not weigh more than short ones.
func addRuns(runs []uint32, group FeatureGroup, scale float64, add func(Feature)) {
	slices.Sort(runs)
	runs = slices.Compact(runs)
	value := scale / math.Sqrt(float64(len(runs)))
	for _, hash := range runs {
		add(Feature{Group: group, Hash: hash, Value: value})
	}
}

// The tokens that stand for the edges of a sentence, for code and other opaque words, and
// for numbers.
const (
	startToken uint64 = iota + 1
	endToken
	opaqueToken
	digitsToken
)

// appendRuns appends the hashes of the runs of 1 to longest words of a sentence. The edges
// of the sentence are part of the runs of two and more.
func (r *reading) appendRuns(runs []uint32, s int, seed uint64, longest int) []uint32 {
	words := r.words(s)
	token := func(i int) uint64 {
		switch {
		case i < 0:
			return startToken
		case i == len(words):
			return endToken
		default:
			return wordToken(&words[i])
		}
	}
	var before [2]uint64 // hashes of the runs of one and two words that end before i
	for i := -1; i <= len(words); i++ {
		t := token(i)
		one := mix(seed, t)
		two, three := mix(before[0], t), mix(before[1], t)
		if i >= 0 && i < len(words) {
			runs = append(runs, fold32(one))
		}
		if i >= 0 && longest >= 2 {
			runs = append(runs, fold32(two))
		}
		if i >= 1 && longest >= 3 {
			runs = append(runs, fold32(three))
		}
		before = [2]uint64{one, two}
	}
	return runs
}

func (r *reading) words(s int) []text.Word {
	return r.doc.Words[r.doc.Sentences[s].First:r.doc.Sentences[s].End]
}

// wordToken returns the hash of a word.
func wordToken(w *text.Word) uint64 {
	switch {
	case w.Flags&text.Opaque != 0:
		return opaqueToken
	case w.Flags&text.Digits != 0:
		return digitsToken
	}
	return nameToken(w.Fold)
}

// nameToken returns the 64-bit FNV-1a hash of a string.
func nameToken(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h
}

// mix combines a hash with the next token.
func mix(h, token uint64) uint64 {
	h = (h ^ token) * 0x9E3779B97F4A7C15
	return h ^ h>>29
}

func fold32(h uint64) uint32 { return uint32(h>>32) ^ uint32(h) }
