package cli

import (
	"strconv"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
)

// The forms in which programs name the end of a usage limit.
var (
	// waitText matches "try again in 2 days 3 hours" and "retry after 17 seconds".
	waitText = lazyregexp.New(`(?i)(?:try again|retry)[a-z ]{0,10} (?:in|after) ` +
		`((?:\d{1,6}(?:\.\d{1,6})? ?` + waitUnit + `\b(?:,| and)? ?){1,4})`)
	waitPart = lazyregexp.New(`(?i)(\d{1,6}(?:\.\d{1,6})?) ?(` + waitUnit + `)`)
	// epochText matches "Claude AI usage limit reached|1764000000".
	epochText = lazyregexp.New(`(?i)limit reached\|(\d{10})(\d{3})?\b`)
	// clockText matches "try again at 3:05 PM", "try again at Nov 25th, 2026 3:05 PM" and "resets 3pm
	// (Europe/Paris)".
	clockText = lazyregexp.New(`(?i)(?:try again|resets?) (?:at |on )?` +
		`(?:(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]* (\d{1,2})(?:st|nd|rd|th)?,?(?: (\d{4}))?,?(?: at)? )?` +
		`(\d{1,2})(?::(\d{2}))? ?([ap]m)(?: \(([A-Za-z_]+(?:/[A-Za-z_+-]+){0,2})\))?`)
)

const waitUnit = `(?:milliseconds?|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|h|days?|d)`

// retryAfter returns the wait that the message of a rate limit names, or 0.
func retryAfter(message string) time.Duration {
	m := waitText().FindStringSubmatch(message)
	if m == nil {
		return 0
	}
	var sum time.Duration
	for _, part := range waitPart().FindAllStringSubmatch(m[1], -1) {
		n, err := strconv.ParseFloat(part[1], 64)
		if err != nil {
			return 0
		}
		sum += time.Duration(n * float64(unitOf(part[2])))
	}
	return sum
}

// unitOf returns the duration of a unit that waitUnit matches.
func unitOf(name string) time.Duration {
	name = strings.ToLower(name)
	switch {
	case name == "ms" || strings.HasPrefix(name, "mil"):
		return time.Millisecond
	case name[0] == 's':
		return time.Second
	case name[0] == 'm':
		return time.Minute
	case name[0] == 'h':
		return time.Hour
	}
	return 24 * time.Hour
}

// resetAt returns the time at which a usage limit ends according to its message, or zero. A time of day
// without a date is the next one after now, in the zone of now unless the message names one.
func resetAt(message string, now time.Time) time.Time {
	if m := epochText().FindStringSubmatch(message); m != nil {
		seconds, _ := strconv.ParseInt(m[1], 10, 64)
		return time.Unix(seconds, 0).In(now.Location())
	}
	m := clockText().FindStringSubmatch(message)
	if m == nil {
		return time.Time{}
	}
	zone := now.Location()
	if m[7] != "" {
		named, err := time.LoadLocation(m[7])
		if err != nil {
			return time.Time{}
		}
		zone = named
	}
	return onClock(m, now.In(zone)).In(now.Location())
}

// limitEnd returns the time at which a usage limit ends, or zero if neither an event nor the message
// names it.
func (a *answer) limitEnd(message string, now time.Time) time.Time {
	if a.limitEpoch > 0 {
		return time.Unix(a.limitEpoch, 0).In(now.Location())
	}
	return resetAt(message, now)
}

// onClock returns the time of the groups of clockText, in the zone of now.
func onClock(m []string, now time.Time) time.Time {
	year, month, day := now.Date()
	number := func(s string) int {
		n, _ := strconv.Atoi(s) // the pattern has digits only
		return n
	}
	hour, minute := number(m[4])%12, number(m[5])
	if number(m[4]) > 12 || minute > 59 {
		return time.Time{}
	}
	if strings.EqualFold(m[6], "pm") {
		hour += 12
	}
	if m[1] == "" {
		at := time.Date(year, month, day, hour, minute, 0, 0, now.Location())
		if !at.After(now) {
			at = time.Date(year, month, day+1, hour, minute, 0, 0, now.Location())
		}
		return at
	}
	named, _ := time.Parse("Jan", strings.ToUpper(m[1][:1])+strings.ToLower(m[1][1:3]))
	if m[3] != "" {
		year = number(m[3])
	}
	at := time.Date(year, named.Month(), number(m[2]), hour, minute, 0, 0, now.Location())
	if m[3] == "" && !at.After(now) {
		at = at.AddDate(1, 0, 0)
	}
	return at
}
