package stop

import "unicode/utf8"

// contextBytes is how much of the message a context shows on either side.
const contextBytes = 60

// surroundings returns the span with what surrounds it, whole characters only.
func surroundings(message string, at Span) string {
	from, to := max(0, at.Start-contextBytes), min(len(message), at.End+contextBytes)
	to = min(to, at.Start+8*contextBytes)
	for from > 0 && from < at.Start && !utf8.RuneStart(message[from]) {
		from++
	}
	for to < len(message) && to > at.Start && !utf8.RuneStart(message[to]) {
		to--
	}
	return message[from:to]
}

// excerpt returns the text of the span, cut after some bytes at a whole character.
func excerpt(message string, at Span, limit int) string {
	end := min(at.End, at.Start+limit)
	for end > at.Start && end < len(message) && !utf8.RuneStart(message[end]) {
		end--
	}
	return message[at.Start:end]
}
