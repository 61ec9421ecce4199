package page

import (
	"fmt"
	"html/template"
	"strconv"
	"strings"
)

// ids gives each scenario the id of its element. Ids need no escaping, so links can be read. The
// ids of a trial and of a call append numbers: scenario/trial/call.
type ids struct{ taken map[string]bool }

// reserved are the ids of the page's own elements.
var reserved = []string{
	"top", "main", "summary", "attention", "changes", "survival", "plots", "agents", "detectors", "scenarios", "list", "left-out",
	"search", "agent", "tag", "order", "deep", "count", "theme", "filter", "origin",
}

// maxID limits an id, in bytes.
const maxID = 100

// scenario returns a new id for a scenario. Valid characters are kept; "~", which is not one of
// them, marks changes that make ids distinct.
func (l *ids) scenario(name string) string {
	if l.taken == nil {
		l.taken = map[string]bool{}
		for _, id := range reserved {
			l.taken[id] = true
		}
	}
	base := slug(name)
	// A last part that is a number would be that of a trial or a call.
	if _, err := strconv.ParseUint(base[strings.LastIndexByte(base, '/')+1:], 10, 64); err == nil {
		base += "~"
	}
	id := base
	for n := 2; l.taken[id]; n++ {
		id = fmt.Sprintf("%s~%d", base, n)
	}
	l.taken[id] = true
	return id
}

// slug replaces each run of characters other than letters, digits and a few signs by a hyphen.
func slug(name string) string {
	var b strings.Builder
	gap := false
	for i := range len(name) {
		c := name[i]
		if !plainByte(c) {
			gap = true
			continue
		}
		if gap && b.Len() > 0 {
			b.WriteByte('-')
		}
		gap = false
		if b.WriteByte(c); b.Len() >= maxID {
			break
		}
	}
	if b.Len() == 0 {
		return "scenario"
	}
	return b.String()
}

func plainByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.' || c == '/'
}

func trialID(scenario string, n int) string { return scenario + "/" + strconv.Itoa(n) }
func callID(trial string, n int) string     { return trial + "/" + strconv.Itoa(n) }

// messageID has a mark that no scenario's name can contain.
func messageID(trial, id string) string { return trial + "/~" + slug(id) }

// link is a reference to an id of this page.
func link(id string) template.URL { return template.URL("#" + id) } //nolint:gosec // ids are made of plainByte and ~
