package capture

import (
	"cmp"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/redact"
)

// finder finds the secrets of a text, in order and without overlaps.
type finder func(text string) []redact.Secret

// redacted is a body without its secrets.
type redacted struct {
	body []byte
	// cuts has the given offsets, adjusted to body.
	cuts []int
	// kinds counts the secrets.
	kinds map[string]int
}

// redactBody replaces the secrets of a body, even secrets that are split over pieces.
//
// It joins the pieces of each text in a stream, finds the secrets in the whole text, and splits the
// mark of each over the pieces of the secret in proportion to their shares. The number of events does
// not change, the joined pieces are the redacted text, and all other bytes stay the same. cuts has
// ascending offsets in body; an offset within a secret is adjusted in proportion.
func redactBody(body []byte, stream bool, cuts []int, find finder) redacted {
	r := redaction{body: body, find: find, kinds: map[string]int{}}
	texts := map[string][]leaf{}
	var order []string
	for _, l := range leaves(body, stream) {
		if !stream || !l.piece {
			r.whole(l)
		}
		if !stream || l.group == "" {
			continue
		}
		if texts[l.group] == nil {
			order = append(order, l.group)
		}
		texts[l.group] = append(texts[l.group], l)
	}
	for _, group := range order {
		r.joined(texts[group])
	}
	return r.apply(cuts)
}

// redaction collects the replacements in a body.
type redaction struct {
	body  []byte
	find  finder
	edits []edit
	kinds map[string]int
}

// edit replaces the bytes from up to to.
type edit struct {
	from, to int
	with     string
}

func (r *redaction) text(l leaf) string {
	if l.escaped {
		return unescape(string(r.body[l.from:l.to]))
	}
	return string(r.body[l.from:l.to])
}

// place has the positions of the parts of a leaf's text in the body.
type place struct {
	leaf
	offsets
}

func (r *redaction) place(l leaf) *place {
	p := place{leaf: l}
	if l.escaped {
		p.raw = string(r.body[l.from:l.to])
	}
	return &p
}

// replace replaces a part of a leaf's text by with. Parts must be in order.
func (r *redaction) replace(p *place, from, to int, with string) {
	if p.escaped {
		from, to = p.of(from, false), p.of(to, true)
	}
	r.edits = append(r.edits, edit{p.from + from, p.from + to, with})
}

// whole replaces the secrets of a text that is not split.
func (r *redaction) whole(l leaf) {
	found := r.find(r.text(l))
	if len(found) == 0 {
		return
	}
	at := r.place(l)
	for _, s := range found {
		r.replace(at, s.From, s.To, s.Mark())
		r.kinds[s.Kind]++
	}
}

// joined replaces the secrets of a text that is split into pieces.
func (r *redaction) joined(pieces []leaf) {
	if len(pieces) == 1 && !pieces[0].piece {
		return // redacted by whole
	}
	var b strings.Builder
	starts := make([]int, len(pieces)+1)
	for i, p := range pieces {
		b.WriteString(r.text(p))
		starts[i+1] = b.Len()
	}
	var last *place // of the last replacement, in pieces[number]
	number := -1
	for _, s := range r.find(b.String()) {
		first := max(0, sortedBefore(starts, s.From))
		mark, length, done := s.Mark(), s.To-s.From, 0
		for i := first; i < len(pieces) && starts[i] < s.To; i++ {
			from, to := max(s.From, starts[i]), min(s.To, starts[i+1])
			if from >= to {
				continue
			}
			upTo := len(mark) * (to - s.From) / length
			if number != i {
				last, number = r.place(pieces[i]), i
			}
			r.replace(last, from-starts[i], to-starts[i], mark[done:upTo])
			done = upTo
		}
		if pieces[first].piece {
			r.kinds[s.Kind]++
		}
	}
}

// sortedBefore returns the last index with a start of at most at.
func sortedBefore(starts []int, at int) int {
	i, found := slices.BinarySearch(starts, at)
	if found {
		return i
	}
	return i - 1
}

// apply returns the redacted body. Overlapping edits get the mark of the first one.
func (r *redaction) apply(cuts []int) redacted {
	slices.SortStableFunc(r.edits, func(a, b edit) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to))
	})
	out := redacted{cuts: make([]int, len(cuts)), kinds: r.kinds}
	if len(r.edits) == 0 {
		out.body = r.body
		copy(out.cuts, cuts)
		return out
	}
	done, next := 0, 0
	for _, e := range disjoint(r.edits) {
		for ; next < len(cuts) && cuts[next] <= e.from; next++ {
			out.cuts[next] = len(out.body) + cuts[next] - done
		}
		out.body = append(out.body, r.body[done:e.from]...)
		for ; next < len(cuts) && cuts[next] < e.to; next++ {
			out.cuts[next] = len(out.body) + len(e.with)*(cuts[next]-e.from)/(e.to-e.from)
		}
		out.body = append(out.body, e.with...)
		done = e.to
	}
	for ; next < len(cuts); next++ {
		out.cuts[next] = len(out.body) + cuts[next] - done
	}
	out.body = append(out.body, r.body[done:]...)
	return out
}

// disjoint merges overlapping edits, which are sorted.
func disjoint(edits []edit) []edit {
	n := 0
	for _, e := range edits[1:] {
		if e.from < edits[n].to {
			edits[n].to = max(edits[n].to, e.to)
			continue
		}
		n++
		edits[n] = e
	}
	return edits[:n+1]
}
