package coding

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/rehearse-dev/rehearse/harness/app"
	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
	"github.com/rehearse-dev/rehearse/llm"
)

// normalizer replaces what differs from run to run in texts: the names of the trial's
// folders and the address of the scripted backend.
type normalizer struct{ names *strings.Replacer }

func newNormalizer(site app.Site) normalizer {
	pairs := []string{
		site.Folder, "{workspace}", sessionFolder(site.Folder), "{workspace}", site.Home, "{home}", sessionFolder(site.Home), "{home}",
		site.Backend, "{backend}",
	}
	if u, err := url.Parse(site.Backend); err == nil && u.Host != "" {
		pairs = append(pairs, u.Host, "{backend}")
	}
	return normalizer{strings.NewReplacer(pairs...)}
}

// sessionFolder returns the name of the folder in which Claude Code stores the sessions of
// another folder.
func sessionFolder(path string) string { return nonAlphanumeric().ReplaceAllString(path, "-") }

var (
	nonAlphanumeric = lazyregexp.New(`[^A-Za-z0-9]`)
	anyID           = lazyregexp.New(`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`)
	anyDate         = lazyregexp.New(`\b20\d\d-\d\d-\d\d(T\d\d:\d\d:\d\d(\.\d+)?Z?)?\b`)
)

// replaceIDs replaces the ids and dates in a text that the program generated.
func replaceIDs(s string) string {
	return anyDate().ReplaceAllString(anyID().ReplaceAllString(s, "{id}"), "{date}")
}

// instructions returns a placeholder for the program's own instructions to the model, which
// are long, third-party text and the same in all calls of a version. Its length and the hash of its sorted
// lines show whether they have changed; some programs list skills and agents in the order in which they
// were loaded.
func (n normalizer) instructions(s string) string {
	lines := strings.Split(replaceIDs(n.names.Replace(s)), "\n")
	slices.Sort(lines)
	s = strings.Join(lines, "\n")
	return fmt.Sprintf("[instructions of the program: %d bytes, SHA-256 %.6x]", len(s), sha256.Sum256([]byte(s)))
}

// Normalize returns what is recorded of a request that the agent made in a site: the
// messages of the user, the model and the tools, without what differs from trial to trial.
func (a *Agent) Normalize(site app.Site, req llm.Request) llm.Request {
	n := newNormalizer(site)
	req.Tags, req.Tools = nil, nil
	messages := make([]llm.Message, 0, len(req.Messages))
	for _, m := range req.Messages {
		switch m.Role {
		case llm.System, llm.Developer:
			m.Content = n.instructions(m.Content)
		default:
			m.Content = n.names.Replace(m.Content)
		}
		m, keep := a.product.normalize(m)
		if !keep {
			continue
		}
		m.ToolCalls = slices.Clone(m.ToolCalls)
		for i := range m.ToolCalls {
			m.ToolCalls[i].Arguments = n.names.Replace(m.ToolCalls[i].Arguments)
		}
		messages = append(messages, m)
	}
	req.Messages = messages
	return req
}

// logNormalizer is a writer that passes on whole lines, without ids and dates.
type logNormalizer struct {
	to io.Writer
	// replace removes what differs from run to run; default replaceIDs.
	replace func(string) string

	mu   sync.Mutex
	rest []byte
}

// Write implements io.Writer; it never fails.
func (l *logNormalizer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rest = append(l.rest, p...)
	if end := bytes.LastIndexByte(l.rest, '\n') + 1; end > 0 || len(l.rest) > maxLogLine {
		if end == 0 {
			end = len(l.rest)
		}
		l.pass(end)
	}
	return len(p), nil
}

// flush passes on a last line without a line break.
func (l *logNormalizer) flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.rest) > 0 {
		l.pass(len(l.rest))
	}
}

// pass passes on the first n bytes.
func (l *logNormalizer) pass(n int) {
	replace := l.replace
	if replace == nil {
		replace = replaceIDs
	}
	_, _ = io.WriteString(l.to, replace(string(l.rest[:n])))
	l.rest = append(l.rest[:0], l.rest[n:]...)
}

// maxLogLine limits the bytes of a line that is passed on whole.
const maxLogLine = 64 << 10
