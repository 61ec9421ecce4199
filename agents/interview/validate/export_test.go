package validate

import "github.com/rehearse-dev/rehearse/agents/interview/titles"

// Names reports whether a text names a work.
func Names(text, title string) bool { return len(titles.New([]string{title}).Find(text)) > 0 }
