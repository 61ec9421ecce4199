package scenarios

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"regexp"
	"strings"

	"github.com/rehearse-dev/rehearse/mocks"
)

// Score is a question about the agent's last answer, which is asked when the agent has
// ended: by a rule, or by a model that judges. What it says is a fact of the trial, for
// expect.that and for experiments: scores["name"].
type Score struct {
	// Name is what expressions call it.
	Name string `yaml:"name" json:"name" jsonschema:"pattern=^[a-z0-9][a-z0-9._-]*$"`
	// Rule demands something of the text. Exactly one of Rule and Judge is given.
	Rule *ScoreRule `yaml:"rule,omitempty" json:"rule,omitempty"`
	// Judge is a model that is asked.
	Judge *ScoreJudge `yaml:"judge,omitempty" json:"judge,omitempty"`
}

// ScoreRule is what a text must say literally: all that is given.
type ScoreRule struct {
	// Contains and Lacks are texts that must, and must not, be in the answer.
	Contains []string `yaml:"contains,omitempty" json:"contains,omitempty"`
	Lacks    []string `yaml:"lacks,omitempty" json:"lacks,omitempty"`
	// Matches is a regular expression (RE2) that must match somewhere in the answer.
	Matches string `yaml:"matches,omitempty" json:"matches,omitempty"`
	// Equals is the whole answer, without white space around it.
	Equals *string `yaml:"equals,omitempty" json:"equals,omitempty"`
	// MinWords and MaxWords bound the number of words, which white space separates; 0 is
	// no bound.
	MinWords int `yaml:"min_words,omitempty" json:"min_words,omitempty" jsonschema:"minimum=0"`
	MaxWords int `yaml:"max_words,omitempty" json:"max_words,omitempty" jsonschema:"minimum=0"`
}

// ScoreJudge is a model that judges by a rubric. Its calls are recorded with the purpose
// "judge". Where it does not answer in form, or its agreement with labels does not reach
// the bar, the verdict of the trial is error.
type ScoreJudge struct {
	// Rubric says what the answer must meet.
	Rubric string `yaml:"rubric" json:"rubric"`
	// Task is what the answer was asked for; may be empty.
	Task string `yaml:"task,omitempty" json:"task,omitempty"`
	// Backend is who judges: a scripted backend in process, or a live one.
	Backend Backend `yaml:"backend" json:"backend"`
	// Agreement is the file with the judge's agreement with labels, as rehearse judge
	// writes it; relative to the scenario's folder, which it cannot leave.
	Agreement string `yaml:"agreement" json:"agreement"`
	// LeastKappa is the bar that the lower end of kappa's interval must reach; default
	// 0.6.
	LeastKappa *float64 `yaml:"least_kappa,omitempty" json:"least_kappa,omitempty" jsonschema:"minimum=-1,maximum=1"`

	// Measured is the content of Agreement; nil where the file is not there.
	Measured json.RawMessage `yaml:"-" json:"-"`
}

// DefaultKappa is the bar that a judge's agreement must reach unless a scenario says
// otherwise: "substantial" on the scale of Landis and Koch (Biometrics 33, 1977).
const DefaultKappa = 0.6

var scorePattern = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]*$`)

// checkScores checks what is asked about answers, and reads the files that it names.
func (c *Checker) checkScores(sc *Scenario, fsys fs.FS, sum hash.Hash) {
	seen := map[string]bool{}
	for i := range sc.Scores {
		s, at := &sc.Scores[i], fmt.Sprintf("scores[%d]", i)
		switch {
		case !scorePattern.MatchString(s.Name):
			c.Add(at+".name", "", `%q is not a name; write lower-case letters, digits, ".", "_" and "-"`, s.Name)
		case seen[s.Name]:
			c.Add(at+".name", "", "the name %q is taken by an earlier score", s.Name)
		}
		seen[s.Name] = true
		if (s.Rule == nil) == (s.Judge == nil) {
			c.Add(at, "", "a score has a rule or a judge, one of the two")
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
		return errors.New("the rule demands nothing; write contains, lacks, matches, equals, min_words or max_words")
	}
	if r.MaxWords > 0 && r.MinWords > r.MaxWords {
		return fmt.Errorf("no text has between %d and %d words", r.MinWords, r.MaxWords)
	}
	if _, err := regexp.Compile(r.Matches); err != nil {
		return fmt.Errorf("matches: %w (RE2 syntax)", err)
	}
	return nil
}

func (c *Checker) checkJudge(j *ScoreJudge, at string, fsys fs.FS, sum hash.Hash) {
	if strings.TrimSpace(j.Rubric) == "" {
		c.Add(at+".rubric", "", "the judge needs a rubric: what the answer must meet")
	}
	if j.LeastKappa != nil && !(*j.LeastKappa >= -1 && *j.LeastKappa <= 1) {
		c.Add(at+".least_kappa", "", "kappa lies between -1 and 1, not at %v", *j.LeastKappa)
	}
	b := &j.Backend
	if kind := b.Kind(); kind != InProcess && kind != Live {
		c.Add(at+".backend.as", "", "a judge is a scripted backend in process (openai) or a live one, not %s", kind)
		return
	}
	if b.Cast != "" || b.ScriptFile != "" {
		c.Add(at+".backend", "", "the script of a judge stands here; it has neither cast nor script")
		return
	}
	// The same checks as of the agent's own backend, reported where this one stands.
	inner := Checker{doc: c.doc, decoding: c.decoding, opts: c.opts, at: at}
	inner.checkBackend(&Scenario{Backend: *b})
	inner.checkFaults(b)
	inner.checkModel(b)
	inner.loadFiles(&b.Script, "backend", fsys, sum)
	inner.readAgreement(j, fsys, sum)
	c.found = append(c.found, inner.found...)
}

// readAgreement reads the file of an agreement.
func (c *Checker) readAgreement(j *ScoreJudge, fsys fs.FS, sum hash.Hash) {
	if j.Agreement == "" {
		c.Add("agreement", "", "the judge has no agreement: its verdicts cannot be relied on before they were held against labels; measure it with rehearse judge")
		return
	}
	text := mocks.Answer{File: j.Agreement}
	err := text.Load(fsys)
	if errors.Is(err, fs.ErrNotExist) {
		return // not measured yet: a trial's verdict is error until it is
	}
	if err != nil {
		c.missingFile("agreement", j.Agreement, fsys, err)
		return
	}
	if !json.Valid([]byte(text.Text.String())) {
		c.Add("agreement", "", "%q is not an agreement; measure it with rehearse judge", j.Agreement)
		return
	}
	j.Measured = json.RawMessage(text.Text.String())
	hashPart(sum, j.Measured)
}

// prefixed is a path below where the checker stands.
func (c *Checker) prefixed(path string) string {
	if path == "" {
		return c.at
	}
	return join(c.at, path)
}
