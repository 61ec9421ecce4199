package mocks

import "fmt"

// Matcher is a compiled Match.
type Matcher struct {
	// Kind is the key of the condition, such as "contains"; Want is its value.
	Kind, Want string
	// Fits reports whether a text meets the condition.
	Fits func(text string) bool
}

// Compile compiles the condition, for packages with conditions of their own. It returns an error unless exactly one of
// the keys is given, and for an invalid regular expression.
func (m *Match) Compile() (Matcher, error) {
	if err := m.check(); err != nil {
		return Matcher{}, err
	}
	kind, want, fits, err := m.compile()
	if err != nil {
		return Matcher{}, fmt.Errorf("%s: %w (RE2 syntax)", kind, err)
	}
	return Matcher{Kind: kind, Want: want, Fits: fits}, nil
}
