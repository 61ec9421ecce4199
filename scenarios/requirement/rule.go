package requirement

import (
	"fmt"
	"path/filepath"
	"regexp"

	"github.com/rehearse-dev/rehearse/internal/suggest"
	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
)

// Config is the section of the configuration file about requirements.
type Config struct {
	// IDs is a regular expression (RE2) for whole ids, such as "SRS-[0-9]+". Default: any id.
	IDs string `yaml:"ids,omitempty" json:"ids,omitempty"`
	// File is a list of requirements, YAML or CSV, relative to the folder of the configuration file. Scenarios prove only
	// requirements of this list. Default: no list.
	File string `yaml:"file,omitempty" json:"file,omitempty"`
}

// Rule decides which ids scenarios may prove.
type Rule struct {
	// List has the requirements; nil without a list.
	List *List
	ids  *regexp.Regexp // nil accepts all
	text string         // of ids, as given by the user
	has  map[string]bool
	all  []string
}

// Rule reads the list of the configuration. folder is that of the configuration file.
func (c Config) Rule(folder string) (*Rule, error) {
	rule := &Rule{text: c.IDs, has: map[string]bool{}}
	var err error
	if rule.ids, err = compile(c.IDs); err != nil {
		return nil, err
	}
	if c.File == "" {
		return rule, nil
	}
	file := c.File
	if !filepath.IsAbs(file) {
		file = filepath.Join(folder, file)
	}
	if rule.List, err = Read(file); err != nil {
		return nil, fmt.Errorf("requirements.file: %w", err)
	}
	for _, r := range rule.List.Requirements {
		rule.has[r.ID] = true
		rule.all = append(rule.all, r.ID)
	}
	return rule, nil
}

// compile compiles the regular expression of whole ids; nil for an empty one.
func compile(ids string) (*regexp.Regexp, error) {
	if ids == "" {
		return nil, nil
	}
	if _, err := regexp.Compile(ids); err != nil { // by itself, so that the error shows what the user wrote
		return nil, fmt.Errorf("requirements.ids is not a regular expression: %w", err)
	}
	return regexp.Compile("^(?:" + ids + ")$")
}

// Problems returns what is wrong with the section of a document, without reading the list.
func (c Config) Problems(doc *yamlsrc.Document, section string) yamlsrc.Diagnostics {
	if _, err := compile(c.IDs); err != nil {
		return yamlsrc.Diagnostics{doc.At(yamlsrc.Join(section, "ids"), err.Error(), "")}
	}
	return nil
}

// Check returns an error unless a scenario may prove id, and the nearest id of the list; empty if none is near.
func (r *Rule) Check(id string) (nearest string, err error) {
	switch {
	case r.ids != nil && !r.ids.MatchString(id):
		return suggest.Nearest(id, r.all), fmt.Errorf("%q does not match requirements.ids of the configuration file, %s", clip(id), r.text)
	case r.List != nil && !r.has[id]:
		return suggest.Nearest(id, r.all), fmt.Errorf("%s has no requirement %q", r.List.File, clip(id))
	}
	return "", nil
}
