package session

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

// The separators of works and the marks of lists. A number is a mark only if a point, a
// parenthesis or a dash follows: "24" and "1917" are titles.
var (
	newlines = lazyregexp.New(`[\r\n\x{2028}\x{2029}]+`)
	dashes   = lazyregexp.New(`\s[-–—]\s`)
	firm     = lazyregexp.New(`[;|•]|\s[/+]\s`)
	commas   = lazyregexp.New(`[,，、]`)
	joiners  = lazyregexp.New(`(?i)\s(?:et|and|puis|then)\s`)
	point    = lazyregexp.New(`(?m)^[ \t]*(?:[-*•–—·‣▪]|[a-eA-E][.)]|#?\d{1,2} ?(?:[.)°:/–—-][ \t]|[.)°]))[ \t]*([^ \t\n].*)$`)
	inline   = lazyregexp.New(`(?:^|[\s,;:])#?([1-9]) ?[.)°/–—-](?:\s|$)`)
	trailing = lazyregexp.New(`(?i)[\s,;]+(?:et|and|puis|then)\s*$`)
	volumes  = lazyregexp.New(`[\pL\pM'’]\s+((?:\d{1,2}|[IVX]{1,4})` +
		`(?:(?:\s*[,&+/]\s*|\s+)(?:(?:et|and|puis|to|à)\s+)?(?:\d{1,2}|[IVX]{1,4})\b)+)`)
	quotes = lazyregexp.New(`«[^«»\n]*»|“[^“”\n]*”|"[^"\n]*"`)
)

// splitWorks splits an answer into parts that name one work each. If it has known titles, parts that look like
// remarks are omitted.
func splitWorks(text string) []string {
	text = text[:min(len(text), maxAnswerRead)]
	text = newlines().ReplaceAllString(strings.TrimSpace(text), "\n")
	if titles := quotes().FindAllString(text, maxWorks); len(titles) >= askedWorks {
		return titles
	}
	if title := strings.TrimFunc(text, isTitleEdge); knownTitles().isOneTitle(title) {
		return []string{"«" + title + "»"}
	}
	text, known := knownTitles().mark(text)
	if known == 0 {
		return slices.DeleteFunc(splitParts(text), isUntitled)
	}
	var all []string
	small := text == strings.ToLower(text)
	for _, part := range splitParts(text) {
		if !quotes().MatchString(part) {
			if knownTitles().mayName(part, small) {
				all = append(all, part)
			}
			continue
		}
		for _, piece := range splitOutsideQuotes(part, joiners()) {
			if titles := quotes().FindAllString(piece, -1); titles != nil {
				all = append(all, titles...)
			}
		}
	}
	for _, title := range quotes().FindAllString(text, -1) {
		if !slices.ContainsFunc(all, func(part string) bool { return strings.Contains(part, title) }) {
			all = append(all, title) // in a later sentence
		}
	}
	slices.SortStableFunc(all, func(a, b string) int { return strings.Index(text, a) - strings.Index(text, b) })
	return all
}

// maxUnknown is the number of words of a title in small letters beside known titles.
const maxUnknown = 3

// maybeTitle reports whether a part beside known titles is a title, not a remark. small is true if the answer has no
// capital letters.
func maybeTitle(part string, small bool) bool {
	ws := words(part)
	return len(ws) > 0 && !remarkBegins()[ws[0].folded] && (beginsLikeTitle(part[ws[0].start:]) || small && len(ws) <= maxUnknown)
}

var remarkBegins = titleList("remarkBegins")

func splitParts(text string) []string {
	if points := point().FindAllStringSubmatch(text, -1); len(points) > 1 {
		var all []string
		for _, p := range points {
			all = append(all, p[1])
		}
		return all
	}
	if all := splitNumbered(text); len(all) > 1 {
		return all
	}
	lines := splitOutsideQuotes(text, newlines())
	if len(lines) >= askedWorks || len(lines) > 1 && !strings.ContainsAny(text, ",;") {
		return lines
	}
	text = strings.Join(lines, ", ")
	if all := splitOutsideQuotes(text, firm()); len(all) > 1 {
		return all
	}
	all := splitOutsideQuotes(text, commas())
	if len(all) == 1 {
		if parts := splitOutsideQuotes(text, dashes()); len(parts) >= askedWorks {
			return parts
		}
	}
	if len(all) > 1 {
		all = slices.Concat(all[:1], slices.DeleteFunc(all[1:], isRemark))
		all = slices.DeleteFunc(all, func(part string) bool { return titleOf(part) == "" })
	}
	for i := len(all) - 1; i >= 0 && len(all) < askedWorks; i-- {
		all = slices.Concat(all[:i], splitAtAnd(all[i]), all[i+1:])
	}
	return all
}

// splitNumbered splits "1. this 2. that" if the numbers count up from one. It omits the text before
// the first number.
func splitNumbered(text string) []string {
	var all []string
	start := 0
	for _, m := range inline().FindAllStringSubmatchIndex(text, -1) {
		if int(text[m[2]]-'1') != len(all) {
			continue
		}
		if len(all) > 0 {
			all[len(all)-1] = trailing().ReplaceAllString(text[start:m[0]], "")
		}
		all, start = append(all, text[m[1]:]), m[1]
	}
	return all
}

// splitAtAnd splits the first sentence of a text at "and", unless "of" follows or it is one known title, perhaps misspelled.
func splitAtAnd(text string) []string {
	text = text[:sentenceEnd(text)]
	if !quotes().MatchString(text) && len(knownTitles().of(titleOf(text))) > 0 {
		return []string{text}
	}
	parts := splitOutsideQuotesIf(text, joiners(), func(rest string) bool {
		next := words(firstWords(rest))
		return len(next) > 0 && !slices.Contains([]string{"de", "d", "du", "des", "of"}, next[0].folded)
	})
	if len(parts) == 0 {
		return nil
	}
	return slices.Concat(parts[:1], slices.DeleteFunc(parts[1:], isRemark))
}

// firstWords returns a prefix of a text that is long enough to read its first word.
func firstWords(text string) string { return text[:min(len(text), 64)] }

// splitOutsideQuotes splits a text at separators outside quotes, and drops blank parts.
func splitOutsideQuotes(text string, separator *regexp.Regexp) []string {
	return splitOutsideQuotesIf(text, separator, func(string) bool { return true })
}

func splitOutsideQuotesIf(text string, separator *regexp.Regexp, also func(rest string) bool) []string {
	var all []string
	add := func(part string) {
		if part = strings.TrimSpace(part); part != "" {
			all = append(all, part)
		}
	}
	start := 0
	guarded := protectedRanges(text)
	for _, at := range separator.FindAllStringIndex(text, -1) {
		for len(guarded) > 0 && guarded[0][1] <= at[0] {
			guarded = guarded[1:]
		}
		if len(guarded) > 0 && guarded[0][0] <= at[0] || !also(text[at[1]:]) {
			continue
		}
		add(text[start:at[0]])
		start = at[1]
	}
	add(text[start:])
	return all
}

// protectedRanges returns the ranges in which separators are ignored, in order: quotes, and
// the numbers of volumes ("Toy Story 1, 2 et 3").
func protectedRanges(text string) [][]int {
	all := quotes().FindAllStringIndex(text, -1)
	for _, at := range volumes().FindAllStringSubmatchIndex(text, -1) {
		if n := risingNumbers(text[at[2]:at[3]]); n > 0 {
			all = append(all, []int{at[2], at[2] + n})
		}
	}
	slices.SortFunc(all, func(a, b []int) int { return a[0] - b[0] })
	return all
}

// lastVolume is the highest number of a volume: "24" is a title.
const lastVolume = 12

// risingNumbers returns the length in bytes of the ascending numbers up to lastVolume at the
// start of a text, or 0 if there are fewer than two.
func risingNumbers(text string) int {
	before, numbers, end := 0, 0, 0
	for _, word := range words(text) {
		n, err := strconv.Atoi(word.folded)
		if err != nil {
			n = slices.Index(romanNumerals, word.folded)
		}
		switch {
		case n < 0: // a joiner
			continue
		case n <= before || n > lastVolume:
			if numbers < 2 {
				return 0
			}
			return end
		}
		before, numbers, end = n, numbers+1, word.end
	}
	if numbers < 2 {
		return 0
	}
	return end
}

// romanNumerals are the Roman numerals, by their value.
var romanNumerals = []string{"", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii"}

// isRemark reports whether a part of an answer comments on the part before.
func isRemark(part string) bool {
	first, _ := utf8.DecodeRuneInString(part)
	return unicode.IsLower(first) && remarks.at(words(firstWords(part))) > 0
}

// comment matches the start of a remark on a title, and sentence the end of a sentence. A full stop
// after an abbreviation does not end a title.
var (
	comment = lazyregexp.New(`\sfor\s(?:the|its|his|her|their|how)\s[^\p{Lu}\d]*$|\s*[(\[]|\s+[-–—]+(?:\s|$)|` +
		`\s(?:parce qu|because|puisque|car\s|since\s|which\s|je pense|je crois|i think|I think|I guess)|\s*\n`)
	sentence = lazyregexp.New(`[\pL\pM\d]{2,}\s?[.!?…]+\s`)
	colon    = lazyregexp.New(`\s?:(?:\s+|$)`)
)

// titleOf returns the title that a part of an answer names, or "".
func titleOf(part string) string {
	q := quotes().FindString(part)
	quoted := strings.Trim(q, "«»“”\" \u00a0\u202f") != ""
	if quoted {
		part = q
	} else {
		part = withoutComment(withoutLead(part))
	}
	part = strings.TrimFunc(part, isTitleEdge)
	ws := words(part)
	if len(ws) == 0 || !quoted && (nothing.at(ws) == len(ws) || openers.at(ws) == len(ws)) {
		return ""
	}
	return sanitize.Line(norm.NFC.String(part), maxTitle)
}

// isTitleEdge reports whether a character cannot be the first or last one of a title.
func isTitleEdge(r rune) bool {
	return unicode.IsSpace(r) || unicode.In(r, unicode.C) || strings.ContainsRune(".,;:!…*_`\"'’‘“”«»-–—•·>", r)
}

// withoutLead returns a part without the words that introduce a title.
func withoutLead(part string) string {
	if at := colon().FindStringIndex(part); at != nil {
		head := words(part[:at[0]])
		if slices.ContainsFunc(head, func(w word) bool { return introduces.at([]word{w}) > 0 }) {
			part = part[at[1]:]
		}
	}
	ws := words(part)
	i := 0
	for i < len(ws) {
		n := leadLength(part, ws[i:], i > 0)
		if n == 0 {
			break
		}
		i += n
	}
	switch i {
	case 0:
		return part
	case len(ws):
		return ""
	}
	return part[ws[i].start:]
}

// leadLength returns the number of words at the start of ws that introduce a title; led is true
// if such words precede ws.
func leadLength(text string, ws []word, led bool) int {
	if n := leads.at(ws); n > 0 && !hasCapital(text, ws[1:n]) {
		return n
	}
	if n := leadsOn.at(ws); n > 0 && led {
		return n
	}
	n := openers.at(ws)
	if soft := softOpeners.at(ws); soft > n && !beginsLikeTitle(text[ws[0].start:]) {
		n = soft
	}
	if n == len(ws) || n > 0 && (ws[n].gap || beginsLikeTitle(text[ws[n].start:]) || leads.at(ws[n:]) > 0 || openers.at(ws[n:]) > 0) {
		return n
	}
	return 0
}

// hasCapital reports whether a word is capitalized: "I Love Lucy" is a title.
func hasCapital(text string, ws []word) bool {
	return slices.ContainsFunc(ws, func(w word) bool {
		first, _ := utf8.DecodeRuneInString(text[w.start:])
		return unicode.IsUpper(first)
	})
}

// beginsLikeTitle reports whether a text begins with a capital letter or a digit.
func beginsLikeTitle(text string) bool {
	first, _ := utf8.DecodeRuneInString(text)
	return unicode.IsUpper(first) || unicode.IsDigit(first)
}

// withoutComment returns a part without the remark on its title. Text after a colon is a
// subtitle if it is short and begins with a capital letter.
func withoutComment(part string) string {
	end := len(part)
	named := func(at int) bool { return len(words(part[:at])) > 0 }
	for _, at := range comment().FindAllStringIndex(part, 2) {
		if named(at[0]) {
			end = min(end, at[0])
		}
	}
	end = min(end, sentenceEnd(part))
	for _, at := range commas().FindAllStringIndex(part[:end], 4) {
		if named(at[0]) && isRemark(strings.TrimSpace(part[at[1]:end])) {
			end = at[0]
			break
		}
	}
	if at := colon().FindStringIndex(part[:end]); at != nil {
		rest := part[at[1]:end]
		if !beginsLikeTitle(rest) || len(words(rest)) > 4 {
			end = at[0]
		}
	}
	return part[:end]
}

// sentenceEnd returns where the first sentence of a part ends.
func sentenceEnd(part string) int {
	for _, at := range sentence().FindAllStringIndex(part, 4) {
		if last := words(part[at[0]:at[1]]); len(last) > 0 && abbreviations.at(last) == 0 {
			return at[1]
		}
	}
	return len(part)
}
