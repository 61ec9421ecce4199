package validate

import "github.com/rehearse-dev/rehearse/agents/interview/session"

// Names reports whether a text names a work.
func Names(text, title string) bool { return len(session.NewTitles([]string{title}).Find(text)) > 0 }
