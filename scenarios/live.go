package scenarios

import (
	"net/url"

	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
	"github.com/rehearse-dev/rehearse/internal/loopback"
)

var variablePattern = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)

// checkLive checks a scenario with a live backend.
func (c *Checker) checkLive(sc *Scenario) {
	b := &sc.Backend
	for _, not := range []struct {
		key   string
		given bool
	}{
		{"replies", len(b.Replies) > 0},
		{"rules", len(b.Rules) > 0},
		{"state", b.State != ""},
		{"cast", b.Cast != ""},
		{"lenient", b.Lenient},
		{"relax", len(b.Relax) > 0},
		{"strict", len(b.Strict) > 0},
		{"moderations", len(b.Moderations) > 0},
		{"storage", len(b.Storage) > 0},
		{"time_scale", b.TimeScale != 0},
	} {
		if not.given {
			c.Add("backend."+not.key, "", "a live backend has no script, and so no %s; it has url, key_env, model and retry", not.key)
		}
	}
	c.checkURL(b.URL)
	if b.KeyEnv != "" && !variablePattern().MatchString(b.KeyEnv) {
		// The value may be the key itself, so it is not quoted.
		c.Add("backend.key_env", "", "this is not the name of a variable; name the variable that contains the key, such as OPENAI_API_KEY, "+
			"never the key itself")
	}
	if b.Model == "" {
		c.Add("backend.model", "", "a live backend needs a model")
	}
	if len(sc.Perturb) > 0 {
		c.Add("perturb", "", "only a scripted backend can be perturbed, not a live one")
	}
	if c.kind().External {
		c.Add("backend.as", "", "an external agent can only use scripted backends")
	}
}

func (c *Checker) checkURL(text string) {
	switch u, err := url.Parse(text); {
	case text == "":
		c.Add("backend.url", "", "a live backend needs the URL of its API, such as url: https://api.openai.com/v1")
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		c.Add("backend.url", "", "this is not the URL of an API; write it like https://api.openai.com/v1")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		c.Add("backend.url", "", "the URL of an API has no user, query or fragment; name a key by key_env")
	case u.Scheme == "http" && !loopback.Is(u.Hostname()):
		c.Add("backend.url", "", "http would send the key and all texts unencrypted; write https, unless the server is on this machine")
	}
}
