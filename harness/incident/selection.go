package incident

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/internal/suggest"
)

// maxListed limits the ids in a message.
const maxListed = 5

// Select returns the conversations with an id, which is theirs or that of a trace that they are a part of.
// If no id is equal, those that begin or end with it count. The error of an unknown id lists known
// ones, the most similar first. The note names the conversations if there are several; otherwise it is empty.
func Select(all []Conversation, id string) (selected []Conversation, note string, err error) {
	for _, matches := range []func(string) bool{
		func(known string) bool { return known == id },
		func(known string) bool { return strings.HasPrefix(known, id) || strings.HasSuffix(known, id) },
	} {
		for _, c := range all {
			if slices.ContainsFunc(c.ids(), matches) {
				selected = append(selected, c)
			}
		}
		if len(selected) > 0 {
			break
		}
	}
	switch len(selected) {
	case 0:
		return nil, "", fmt.Errorf("the files have no such conversation or trace; they have %s", listed(nearestFirst(all, id)))
	case 1:
		return selected, "", nil
	}
	return selected, fmt.Sprintf("%s has %s: %s", sanitize.Line(id, 80), format.Plural(len(selected), "conversation"), listed(selected)), nil
}

// ids returns the ids by which a user may know the conversation.
func (c *Conversation) ids() []string { return append([]string{c.ID}, c.Traces...) }

// nearestFirst returns conversations in the order of the similarity of their ids with a word.
func nearestFirst(all []Conversation, word string) []Conversation {
	const limit = 64
	distance := func(c Conversation) int {
		least := limit
		for _, id := range c.ids() {
			least = min(least, suggest.Distance([]byte(sanitize.Prefix(word, limit)), []byte(sanitize.Prefix(id, limit)), limit))
		}
		return least
	}
	sorted := slices.Clone(all)
	slices.SortStableFunc(sorted, func(a, b Conversation) int { return distance(a) - distance(b) })
	return sorted
}

// listed names conversations, with their traces.
func listed(all []Conversation) string {
	if len(all) == 0 {
		return "none"
	}
	var names []string
	for _, c := range all[:min(len(all), maxListed)] {
		name := sanitize.Line(c.ID, 80)
		switch traces := c.Traces; {
		case len(traces) == 1:
			name += " (trace " + sanitize.Line(traces[0], 80) + ")"
		case len(traces) > 1:
			name += fmt.Sprintf(" (%s, such as %s)", format.Plural(len(traces), "trace"), sanitize.Line(traces[0], 80))
		}
		names = append(names, name)
	}
	text := strings.Join(names, ", ")
	if more := len(all) - len(names); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
