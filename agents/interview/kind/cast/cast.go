// Package cast holds the candidates that interviews are rehearsed with: what
// they answer, and what a good model would write to them.
package cast

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
	// Name is that of the persona's file.
	Name     string           `yaml:"name" json:"name"`
	Language session.Language `yaml:"language" json:"language" jsonschema:"enum=fr,enum=en"`
	// Candidate is the id under which the persona takes interviews.
	Candidate string `yaml:"candidate" json:"candidate"`
	// About says what is special about the persona.
	About string `yaml:"about" json:"about"`
	// Answers are those to the questions of each step, in order.
	Answers map[session.Step][]string `yaml:"answers" json:"answers"`
	// Comments are those on mirrors; a persona has nothing to say on the others.
	Comments map[session.Step]string `yaml:"comments,omitempty" json:"comments,omitempty"`
}

// Answer returns what the persona answers to a question of a step, counted from
// 0; empty if there is no such question.
func (p Persona) Answer(step session.Step, index int) string {
	answers := p.Answers[step]
	if index < 0 || index >= len(answers) {
		return ""
	}
	return answers[index]
}

// Comment returns what the persona says about the mirror of a step; empty if
// that is nothing, so that the interview is told to go on.
func (p Persona) Comment(step session.Step) string { return p.Comments[step] }

// Names lists the personas, sorted.
func Names() []string {
	files, err := fs.Glob(fixtures.Personas, "personas/*.yaml")
	if err != nil {
		panic(err) // only a pattern that is malformed
	}
	for i, file := range files {
		files[i] = strings.TrimSuffix(path.Base(file), ".yaml")
	}
	return files // which Glob has sorted
}

// Load reads a persona. It fails if there is none of that name, and with all
// that is wrong with the file.
func Load(name string) (Persona, error) {
	if !slices.Contains(Names(), name) {
		return Persona{}, unknown(name)
	}
	file := "personas/" + name + ".yaml"
	data, err := fixtures.Personas.ReadFile(file)
	if err != nil {
		return Persona{}, fmt.Errorf("read the persona %q: %w", name, err)
	}
	return parse(file, name, data)
}

func unknown(name string) error {
	hint := ""
	if nearest := suggest.Nearest(name, Names()); nearest != "" {
		hint = fmt.Sprintf("; did you mean %q?", nearest)
	}
	return fmt.Errorf("there is no persona %q, only %s%s", name, strings.Join(Names(), ", "), hint)
}

// parse reads a persona's file. How many answers a step needs depends on the
// replies, so that is for the specs to say.
func parse(file, name string, data []byte) (Persona, error) {
	var p Persona
	doc, found := yamlsrc.Decode(file, data, &p)
	refuse := func(at, format string, args ...any) {
		found = append(found, doc.At(at, fmt.Sprintf(format, args...), ""))
	}
	if len(found) == 0 && p.Name != name {
		refuse("name", "the persona is called %q, its file %q", p.Name, name)
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
