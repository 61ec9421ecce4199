package hook

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/rehearse-dev/rehearse/agents/stop"
)

// logLine is a judged stop in the log. It names session and message by hashes.
type logLine struct {
	Time       time.Time   `json:"time"`
	Host       Host        `json:"host"`
	Session    string      `json:"session"`
	Message    string      `json:"message"`
	Policy     stop.Policy `json:"policy"`
	Class      stop.Class  `json:"class"`
	Score      float64     `json:"score"`
	WouldBlock bool        `json:"would_block"` // what the verdict alone asks for
	Outcome    outcome     `json:"outcome"`
}

// appendLog adds a line in one write, as several processes may append.
func appendLog(cfg Config, in input, s sighting) error {
	line, err := json.Marshal(logLine{
		Time: cfg.Clock.Now().UTC(), Host: in.host, Session: in.key(), Message: s.hash, Policy: cfg.Policy,
		Class: s.verdict.Class, Score: s.verdict.Score, WouldBlock: !s.verdict.MayStop, Outcome: s.outcome,
	})
	if err != nil {
		return fmt.Errorf("log the stop: %w", err)
	}
	file, err := os.OpenFile(cfg.Log, os.O_APPEND|os.O_CREATE|os.O_WRONLY|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return fmt.Errorf("log the stop: %w", err)
	}
	_, err = file.Write(append(line, '\n'))
	if err := errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("log the stop in %s: %w", cfg.Log, err)
	}
	return nil
}
