package scenarios

import (
	"fmt"
	"io/fs"
	"reflect"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
	"github.com/rehearse-dev/rehearse/llm/price"
	"github.com/rehearse-dev/rehearse/mocks"
	"github.com/rehearse-dev/rehearse/scenarios/requirement"
)

// Checker validates a decoded scenario.
type Checker struct {
	doc      *yamlsrc.Document
	decoding Diagnostics // what is wrong with the form
	opts     Options
	found    Diagnostics
	driven   []Kind  // the kinds that the file has options for
	sum      *digest // the scenario's digest
	file     string  // its name
	fsys     fs.FS   // its folder
	// at is the prefix of all paths.
	at string
}

// Add reports a problem at a path, unless decoding failed there or the value was reported already.
func (c *Checker) Add(path, nearest, format string, args ...any) {
	path = c.prefixed(path)
	reported := slices.ContainsFunc(c.found, func(d yamlsrc.Diagnostic) bool { return d.Path == path })
	if !c.decoding.About(path) && !reported {
		c.found = append(c.found, c.doc.At(path, fmt.Sprintf(format, args...), nearest))
	}
}

func (c *Checker) check(sc *Scenario) {
	c.checkHead(sc)
	c.checkDrive(sc)
	c.checkBackend(sc)
	c.checkFaults(&sc.Backend)
	c.checkServers(sc)
	c.checkModel(&sc.Backend)
	c.checkPerturb(sc)
	c.checkInvariants(sc.Invariants)
	c.checkExpect(sc)
}

var (
	namePattern = lazyregexp.New(`^[a-z0-9][a-z0-9._-]*(/[a-z0-9][a-z0-9._-]*)*$`)
	tagPattern  = lazyregexp.New(`^[a-z0-9][a-z0-9._-]*$`)
)

// CheckName returns an error if a text cannot be the name of a scenario.
func CheckName(name string) error {
	if namePattern().MatchString(name) {
		return nil
	}
	return fmt.Errorf(`%q is not a name; write lower-case letters, digits, ".", "_" and "-" in parts between slashes, `+
		`such as "loop/no-progress"`, name)
}

func (c *Checker) checkHead(sc *Scenario) {
	if err := CheckName(sc.Name); err != nil {
		c.Add("name", "", "%v", err)
	}
	for i, tag := range sc.Tags {
		if !tagPattern().MatchString(tag) {
			c.Add(fmt.Sprintf("tags[%d]", i), "", `%q is not a tag; write lower-case letters, digits, ".", "_" and "-"`, tag)
		}
	}
	for i, id := range sc.Proves {
		nearest, err := "", requirement.CheckID(id)
		if err == nil && c.opts.CheckRequirement != nil && !strings.HasPrefix(sc.File, shippedPrefix) {
			nearest, err = c.opts.CheckRequirement(id)
		}
		if err != nil {
			c.Add(fmt.Sprintf("proves[%d]", i), nearest, "%v", err)
		}
	}
}

// checkLines checks the script at a path; "" is the whole file.
func (c *Checker) checkLines(s *mocks.Script, at string) {
	for _, p := range s.Validate() {
		path := at
		if p.Path != "" {
			path = join(at, p.Path)
		}
		c.Add(path, p.Nearest, "%s", p.Message)
	}
}

// join appends to a path, which may be empty.
func join(outer, inner string) string {
	if outer == "" {
		return inner
	}
	return outer + "." + inner
}

func (c *Checker) checkBackend(sc *Scenario) {
	b := &sc.Backend
	if b.Live() {
		c.checkLive(sc)
		return
	}
	for _, only := range []struct{ key, value string }{{"url", b.URL}, {"key_env", b.KeyEnv}} {
		if only.value != "" {
			c.Add("backend."+only.key, "", "only a live backend has %s; write as: live", only.key)
		}
	}
	c.checkScript(b)
}

func (c *Checker) checkScript(b *Backend) {
	c.checkLines(&b.Script, "backend")
	if b.Retry > 0 && b.Process() {
		c.Add("backend.retry", "", "a command-line agent (as: %s) is not retried; only the client of an API is", b.Kind())
	}
}

// checkFaults checks that the backend supports the faults: a process has no HTTP status, an API
// cannot ignore SIGTERM, and such a fault would never fire.
func (c *Checker) checkFaults(b *Backend) {
	if !b.Process() {
		c.checkAPIFaults(&b.Script, "backend")
		return
	}
	process := mocks.ProcessFaults()
	for at, answer := range b.Answers() {
		if f := answer.Fault; f != nil && !slices.Contains(process, f.Kind) {
			c.Add(join("backend", at+".fault"), "", "a command-line agent (as: %s) cannot show the fault %q; it can show %s",
				b.Kind(), f.Kind, strings.Join(process, ", "))
		}
	}
}

// checkAPIFaults checks that an API can show the faults of a script.
func (c *Checker) checkAPIFaults(s *mocks.Script, path string) {
	for at, answer := range s.Answers() {
		if isProcessFault(answer.Fault) {
			c.Add(join(path, at+".fault"), "", processFaultMessage, answer.Fault.Kind)
		}
	}
}

func isProcessFault(f *mocks.Fault) bool {
	return f != nil && slices.Contains(mocks.ProcessFaults(), f.Kind)
}

const processFaultMessage = "only a command-line agent can show the fault %q; write as: claude, codex or exec"

func (c *Checker) checkModel(b *Backend) {
	if b.Unpriced {
		return
	}
	table := c.opts.Prices
	if table == nil {
		var err error
		if table, err = price.Default(); err != nil {
			c.Add("backend.model", "", "%v", err)
			return
		}
	}
	if b.Model == "" {
		c.Add("backend.model", "", "the backend needs a model for its price; write unpriced: true if it has none")
	} else if _, ok := table.Quote(b.Model); !ok {
		c.Add("backend.model", table.Nearest(b.Model),
			"the price table has no model %q; correct it, or write unpriced: true for an unknown cost", b.Model)
	}
}

func (c *Checker) checkExpect(sc *Scenario) {
	e := &sc.Expect
	// A perturbed run is judged by invariants, of which some come with the agent.
	if reflect.ValueOf(*e).IsZero() && len(sc.Perturb) == 0 {
		c.Add("expect", "", "the scenario expects nothing and could never fail; expect at least a status")
	}
	if e.Retries != nil && sc.Backend.Process() {
		c.Add("expect.retries", "", "retries of a command-line agent (as: %s) are unknown; expect calls instead", sc.Backend.Kind())
	}
	if e.EarlyRetries != nil && sc.Backend.Process() {
		c.Add("expect.early_retries", "", "a command-line agent (as: %s) has no Retry-After", sc.Backend.Kind())
	}
	if c.opts.CheckExpr == nil {
		return
	}
	for i, expr := range e.That {
		if err := c.opts.CheckExpr(expr); err != nil {
			c.Add(fmt.Sprintf("expect.that[%d]", i), "", "the expression cannot be used: %v", err)
		}
	}
}
