package hook

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/stop"
)

// Judged is a line of the log: one judged stop.
type Judged struct {
	Class stop.Class
	Score float64
	// Blocked is true if the stop was refused, Refusable if the verdict alone refuses it.
	Blocked, Refusable bool
	// Outcome is the decision, such as "blocked" or "capped".
	Outcome string

	session, message string
}

// Of reports whether the message is the one that was judged.
func (j Judged) Of(message string) bool {
	return j.message == digest(j.session, strings.TrimSpace(message))
}

// ReadLog parses the file of Config.Log. A line that is not whole yet is
// left out; one that is not a line of a log is an error.
func ReadLog(log []byte) ([]Judged, error) {
	var all []Judged
	lines := bufio.NewScanner(bytes.NewReader(log[:bytes.LastIndexByte(log, '\n')+1]))
	for n := 1; lines.Scan(); n++ {
		var l logLine
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			return nil, fmt.Errorf("read line %d of the guard's log: %w", n, err)
		}
		all = append(all, Judged{
			Class: l.Class, Score: l.Score, Blocked: l.Outcome == blocked, Refusable: l.WouldBlock,
			Outcome: string(l.Outcome), session: l.Session, message: l.Message,
		})
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read the guard's log: %w", err)
	}
	return all, nil
}
