package coding

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/rehearse-dev/rehearse/harness/app"
	"github.com/rehearse-dev/rehearse/llm"
)

// calm takes out of texts what is not the same twice: the names of the trial's folders,
// the address of the scripted backend, ids, dates.
type calm struct{ names *strings.Replacer }

func newCalm(site app.Site) calm {
	pairs := []string{
		site.Folder, "{workspace}", flat(site.Folder), "{workspace}", site.Home, "{home}", flat(site.Home), "{home}",
		site.Backend, "{backend}",
	}
	if u, err := url.Parse(site.Backend); err == nil && u.Host != "" {
		pairs = append(pairs, u.Host, "{backend}")
	}
	return calm{strings.NewReplacer(pairs...)}
}

// flat is the name that Claude Code gives to the folder where it keeps what belongs to
// another one.
func flat(path string) string { return noName.ReplaceAllString(path, "-") }

var (
	noName  = regexp.MustCompile(`[^A-Za-z0-9]`)
	anyID   = regexp.MustCompile(`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`)
	anyDate = regexp.MustCompile(`\b20\d\d-\d\d-\d\d(T\d\d:\d\d:\d\d(\.\d+)?Z?)?\b`)
)

// own calms a text that is the program's own.
func own(s string) string {
	return anyDate.ReplaceAllString(anyID.ReplaceAllString(s, "{id}"), "{date}")
}

// instructions stand for the program's own instructions to the model. They are long,
// somebody else's, and the same in all calls of a version; hash and length tell whether
// they changed.
func (c calm) instructions(s string) string {
	s = own(c.names.Replace(s))
	return fmt.Sprintf("[instructions of the program: %d bytes, SHA-256 %.6x]", len(s), sha256.Sum256([]byte(s)))
}

// Calm returns what is recorded of a request that the agent made in a site: what the
// user, the model and the tools said, with what differs from one trial to the next
// replaced.
func (a *Agent) Calm(site app.Site, req llm.Request) llm.Request {
	c := newCalm(site)
	req.Tags, req.Tools = nil, nil
	messages := make([]llm.Message, 0, len(req.Messages))
	for _, m := range req.Messages {
		switch m.Role {
		case llm.System, llm.Developer:
			m.Content = c.instructions(m.Content)
		default:
			m.Content = c.names.Replace(m.Content)
		}
		m, keep := a.product.calm(m)
		if !keep {
			continue
		}
		m.ToolCalls = slices.Clone(m.ToolCalls)
		for i := range m.ToolCalls {
			m.ToolCalls[i].Arguments = c.names.Replace(m.ToolCalls[i].Arguments)
		}
		messages = append(messages, m)
	}
	req.Messages = messages
	return req
}

// calmLog passes on whole lines, without ids and dates.
type calmLog struct {
	to io.Writer

	mu   sync.Mutex
	rest []byte
}

// Write implements io.Writer; it never fails.
func (l *calmLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rest = append(l.rest, p...)
	if end := bytes.LastIndexByte(l.rest, '\n') + 1; end > 0 || len(l.rest) > maxLogLine {
		if end == 0 {
			end = len(l.rest)
		}
		_, _ = io.WriteString(l.to, own(string(l.rest[:end])))
		l.rest = append(l.rest[:0], l.rest[end:]...)
	}
	return len(p), nil
}

// maxLogLine is how long a line may be, in bytes, that is passed on whole.
const maxLogLine = 64 << 10
