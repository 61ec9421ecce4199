package cli

import (
	"encoding/json"
	"strings"
)

// qwenLine processes a line of Qwen Code, whose events are those of Claude Code, except that the result has the
// usage of the whole session and the reason of a failure in a member of its own.
func qwenLine(a *answer, line []byte) {
	claudeLine(a, line)
	if !a.ended || a.total != nil {
		return
	}
	if a.usage != nil {
		a.usage = reported(*a.since(*a.usage))
	}
	var e claudeEvent
	if a.failure == nil || json.Unmarshal(line, &e) != nil {
		return
	}
	var why struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(e.Error, &why) == nil && why.Message != "" {
		a.failure.message = strings.Trim(why.Message, "[]")
	}
}
