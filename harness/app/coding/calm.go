package coding

import (
	"crypto/sha256"
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/app"
	"github.com/rehearse-dev/rehearse/llm"
)

// calm takes out of texts what is not the same twice: the names of the trial's folders,
// the address of the scripted backend, ids, dates.
type calm struct{ names *strings.Replacer }

func newCalm(site app.Site) *calm {
	var pairs []string
	add := func(name, stand string) {
		if name != "" {
			pairs = append(pairs, name, stand)
		}
	}
	for _, folder := range []struct{ path, stand string }{{site.Folder, "WORKSPACE"}, {site.Home, "HOME"}} {
		paths := []string{folder.path}
		if real, err := filepath.EvalSymlinks(folder.path); err == nil && real != folder.path {
			paths = append(paths, real)
		}
		for _, path := range paths {
			add(path, folder.stand)
			add(noPath.ReplaceAllString(path, "-"), folder.stand)
		}
	}
	add(site.Backend, "BACKEND")
	if u, err := url.Parse(site.Backend); err == nil {
		add(u.Host, "BACKEND")
	}
	return &calm{strings.NewReplacer(pairs...)}
}

// noPath is what Claude Code replaces in a path to have the name of a folder.
var noPath = regexp.MustCompile(`[^A-Za-z0-9]`)

// text calms a text that is the agent's or the model's.
func (c *calm) text(s string) string { return c.names.Replace(s) }

var (
	anyID   = regexp.MustCompile(`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`)
	anyDate = regexp.MustCompile(`\b20\d\d-\d\d-\d\d\b`)
)

// instructions stand for the program's own instructions to the model. They are long,
// somebody else's, and the same in all calls of a version; hash and length tell whether
// they changed.
func (c *calm) instructions(s string) string {
	s = anyDate.ReplaceAllString(anyID.ReplaceAllString(c.text(s), "ID"), "DATE")
	return fmt.Sprintf("[the program's own instructions: %d bytes, SHA-256 %.6x]", len(s), sha256.Sum256([]byte(s)))
}

// Calm returns what is recorded of a request that the agent made in a site: what the
// user, the model and the tools said, with what differs from one trial to the next
// replaced.
func (a *Agent) Calm(site app.Site, req llm.Request) llm.Request {
	c := newCalm(site)
	req.Tags, req.Tools = nil, nil
	messages := make([]llm.Message, 0, len(req.Messages))
	for _, m := range req.Messages {
		if m.Role == llm.System || m.Role == llm.Developer {
			m.Content = c.instructions(m.Content)
		} else {
			m.Content = c.text(m.Content)
		}
		m, keep := a.product.calm(m)
		if !keep {
			continue
		}
		m.ToolCalls = slices.Clone(m.ToolCalls)
		for i := range m.ToolCalls {
			m.ToolCalls[i].Arguments = c.text(m.ToolCalls[i].Arguments)
		}
		messages = append(messages, m)
	}
	req.Messages = messages
	return req
}
