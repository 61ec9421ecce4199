package scenarios

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
	"github.com/rehearse-dev/rehearse/mocks"
)

// Score is a question about the agent's last answer, asked after the agent has ended: of a rule or
// of a model that judges. The result is a fact of the trial, for expect.that and for experiments:
// scores["name"].
type Score struct {
	// Name identifies the score in expressions.
	Name string `yaml:"name" json:"name" jsonschema:"pattern=^[a-z0-9][a-z0-9._-]*$"`
	// Rule checks the text. Exactly one of Rule and Judge is set.
	Rule *ScoreRule `yaml:"rule,omitempty" json:"rule,omitempty"`
	// Judge is a model that judges the text.
	Judge *ScoreJudge `yaml:"judge,omitempty" json:"judge,omitempty"`
}

// ScoreRule checks the literal text of an answer. All given criteria must be met.
type ScoreRule struct {
	// Contains are texts that the answer must contain.
	Contains []string `yaml:"contains,omitempty" json:"contains,omitempty"`
	// Lacks are texts that the answer must not contain.
	Lacks []string `yaml:"lacks,omitempty" json:"lacks,omitempty"`
	// Matches is a regular expression (RE2) that must match somewhere in the answer.
	Matches string `yaml:"matches,omitempty" json:"matches,omitempty"`
	// Equals is the expected answer, compared without surrounding white space.
	Equals *string `yaml:"equals,omitempty" json:"equals,omitempty"`
	// MinWords is the smallest number of words, separated by white space; 0 means no bound.
	MinWords int `yaml:"min_words,omitempty" json:"min_words,omitempty" jsonschema:"minimum=0"`
	// MaxWords is the largest number of words, separated by white space; 0 means no bound.
	MaxWords int `yaml:"max_words,omitempty" json:"max_words,omitempty" jsonschema:"minimum=0"`
}

// ScoreJudge is a model that judges by a rubric. Its calls are recorded with the purpose "judge".
// If its answer is malformed, or its agreement with labels is too low, the verdict of the trial is
// error.
type ScoreJudge struct {
	// Rubric describes what the answer must meet.
	Rubric string `yaml:"rubric" json:"rubric"`
	// Task is the task that was given to the agent; may be empty.
	Task string `yaml:"task,omitempty" json:"task,omitempty"`
	// Backend is the judge: a scripted backend in process, or a live one.
	Backend Backend `yaml:"backend" json:"backend"`
	// Agreement is the file with the judge's agreement with labels, written by rehearse judge,
	// relative to the scenario's folder, which it cannot leave.
	Agreement string `yaml:"agreement" json:"agreement"`
	// LeastKappa is the smallest acceptable lower end of kappa's interval; default 0.6.
	LeastKappa *float64 `yaml:"least_kappa,omitempty" json:"least_kappa,omitempty" jsonschema:"minimum=-1,maximum=1"`

	// Measured is the content of Agreement; nil if the file does not exist.
	Measured json.RawMessage `yaml:"-" json:"-"`
}

// DefaultKappa is the default of LeastKappa: "substantial" on the scale of Landis and Koch
// (Biometrics 33, 1977).
const DefaultKappa = 0.6

var scorePattern = lazyregexp.New(`^[a-z0-9][a-z0-9._-]*$`)

// checkScores checks the scores and reads the files that they name.
func (c *Checker) checkScores(sc *Scenario, fsys fs.FS, sum *digest) {
	seen := map[string]bool{}
	for i := range sc.Scores {
		s, at := &sc.Scores[i], fmt.Sprintf("scores[%d]", i)
		switch {
		case !scorePattern().MatchString(s.Name):
			c.Add(at+".name", "", `%q is not a name; write lower-case letters, digits, ".", "_" and "-"`, s.Name)
		case seen[s.Name]:
			c.Add(at+".name", "", "the name %q is used by an earlier score", s.Name)
		}
		seen[s.Name] = true
		if (s.Rule == nil) == (s.Judge == nil) {
			c.Add(at, "", "a score needs either a rule or a judge")
		}
		if s.Rule != nil {
			if err := s.Rule.check(); err != nil {
				c.Add(at+".rule", "", "%v", err)
			}
		}
		if s.Judge != nil {
			c.checkJudge(s.Judge, at+".judge", fsys, sum)
		}
	}
}

func (r *ScoreRule) check() error {
	if len(r.Contains)+len(r.Lacks)+r.MinWords+r.MaxWords == 0 && r.Matches == "" && r.Equals == nil {
		return errors.New("the rule has no criterion; write contains, lacks, matches, equals, min_words or max_words")
	}
	if r.MaxWords > 0 && r.MinWords > r.MaxWords {
		return fmt.Errorf("no text has between %d and %d words", r.MinWords, r.MaxWords)
	}
	if _, err := regexp.Compile(r.Matches); err != nil {
		return fmt.Errorf("matches: %w (RE2 syntax)", err)
	}
	return nil
}

func (c *Checker) checkJudge(j *ScoreJudge, at string, fsys fs.FS, sum *digest) {
	if strings.TrimSpace(j.Rubric) == "" {
		c.Add(at+".rubric", "", "the judge needs a rubric: what the answer must meet")
	}
	if j.LeastKappa != nil && !(*j.LeastKappa >= -1 && *j.LeastKappa <= 1) {
		c.Add(at+".least_kappa", "", "kappa must be between -1 and 1, got %v", *j.LeastKappa)
	}
	c.checkOther(&j.Backend, at, "a judge", fsys, sum)
	c.readAgreement(j, at+".agreement", fsys, sum)
}

// checkOther checks the backend at a path of a model that is not the agent's. who names the model.
func (c *Checker) checkOther(b *Backend, at, who string, fsys fs.FS, sum *digest) {
	if kind := b.Kind(); kind != InProcess && kind != Live {
		c.Add(at+".backend.as", "", "%s is a scripted backend in process (openai) or a live one, not %s", who, kind)
		return
	}
	if b.Cast != "" || b.ScriptFile != "" {
		c.Add(at+".backend", "", "%s has an inline script; it supports neither cast nor script", who)
		return
	}
	// The checks of the agent's own backend, reported at this one.
	inner := Checker{doc: c.doc, decoding: c.decoding, opts: c.opts, at: at}
	inner.checkBackend(&Scenario{Backend: *b})
	inner.checkFaults(b)
	inner.checkModel(b)
	inner.loadFiles(&b.Script, "backend", fsys, sum)
	c.found = append(c.found, inner.found...)
}

func (c *Checker) readAgreement(j *ScoreJudge, at string, fsys fs.FS, sum *digest) {
	if j.Agreement == "" {
		c.Add(at, "", "the judge has no agreement: its verdicts are not reliable until they were compared with labels; "+
			"measure it with rehearse judge")
		return
	}
	text := mocks.Answer{File: j.Agreement}
	err := text.Load(fsys)
	if errors.Is(err, fs.ErrNotExist) {
		return // not measured yet; until then the verdict of a trial is error
	}
	if err != nil {
		c.missingFile(at, j.Agreement, fsys, err)
		return
	}
	if !json.Valid([]byte(text.Text.String())) {
		c.Add(at, "", "%q is not an agreement; measure it with rehearse judge", j.Agreement)
		return
	}
	j.Measured = json.RawMessage(text.Text.String())
	sum.file(j.Agreement, j.Measured)
}

// prefixed returns a path below the checker's prefix.
func (c *Checker) prefixed(path string) string {
	if path == "" {
		return c.at
	}
	return join(c.at, path)
}
