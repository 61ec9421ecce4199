package kind

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/fixtures"
	"github.com/rehearse-dev/rehearse/internal/suggest"
	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
)

// Persona is an invented candidate with a complete set of answers.
type Persona struct {
	// Name is the name of the file without extension.
	Name     string           `yaml:"name" json:"name"`
	Language session.Language `yaml:"language" json:"language" jsonschema:"enum=fr,enum=en"`
	// Candidate is the id under which the persona takes interviews.
	Candidate string `yaml:"candidate" json:"candidate"`
	// About describes the persona.
	About string `yaml:"about" json:"about"`
	// SharedReplies is true if the persona has files only for the replies that depend on its answers. The other
	// replies are those of its language that fit every candidate.
	SharedReplies bool `yaml:"shared_replies,omitempty" json:"shared_replies,omitempty"`
	// Answers are the answers to the questions of each step, in order.
	Answers map[session.Step][]string `yaml:"answers" json:"answers"`
	// Comments are the comments on the mirrors of some steps.
	Comments map[session.Step]string `yaml:"comments,omitempty" json:"comments,omitempty"`
}

// Answer returns the answer to a question of a step, counted from 0, or "" if the persona has no answer.
func (p Persona) Answer(step session.Step, index int) string {
	answers := p.Answers[step]
	if index < 0 || index >= len(answers) {
		return ""
	}
	return answers[index]
}

// Comment returns the comment on the mirror of a step; empty to continue without one.
func (p Persona) Comment(step session.Step) string { return p.Comments[step] }

// Personas lists the names of the personas, sorted.
func Personas() []string {
	files, err := fs.Glob(fixtures.Personas, "personas/*.yaml")
	if err != nil {
		panic(err) // the pattern is constant
	}
	for i, file := range files {
		files[i] = strings.TrimSuffix(path.Base(file), ".yaml")
	}
	return files // Glob sorts
}

// LoadPersona reads a persona. If the file is invalid, the error lists all problems.
func LoadPersona(name string) (Persona, error) {
	if !slices.Contains(Personas(), name) {
		return Persona{}, unknownPersona(name)
	}
	file := "personas/" + name + ".yaml"
	data, err := fixtures.Personas.ReadFile(file)
	if err != nil {
		return Persona{}, fmt.Errorf("read the persona %q: %w", name, err)
	}
	return parsePersona(file, name, data)
}

func unknownPersona(name string) error {
	hint := ""
	if nearest := suggest.Nearest(name, Personas()); nearest != "" {
		hint = fmt.Sprintf("; did you mean %q?", nearest)
	}
	return fmt.Errorf("unknown persona %q; known: %s%s", name, strings.Join(Personas(), ", "), hint)
}

// parse reads the file of a persona. The specs check the number of answers, which depends on
// the replies.
func parsePersona(file, name string, data []byte) (Persona, error) {
	var p Persona
	doc, found := yamlsrc.Decode(file, data, &p)
	refuse := func(at, format string, args ...any) {
		found = append(found, doc.At(at, fmt.Sprintf(format, args...), ""))
	}
	if len(found) == 0 && p.Name != name {
		refuse("name", "the name must be that of the file, %q, got %q", name, p.Name)
	}
	for _, step := range session.Steps() {
		at := "answers." + string(step)
		for i, answer := range p.Answers[step] {
			if strings.TrimSpace(answer) == "" {
				refuse(fmt.Sprintf("%s[%d]", at, i), "the answer is empty")
			}
		}
		if comment, ok := p.Comments[step]; ok && strings.TrimSpace(comment) == "" {
			refuse("comments."+string(step), "the comment is empty; leave it out")
		}
	}
	if len(found) > 0 {
		found.Sort()
		return Persona{}, found.Err()
	}
	return p, nil
}
