package persist

import "reflect"

// Phrases returns the sentences of both languages in the same order.
func Phrases() (inEnglish, inFrench []string) {
	e, f := reflect.ValueOf(english), reflect.ValueOf(french)
	for i := range e.NumField() {
		inEnglish, inFrench = append(inEnglish, e.Field(i).String()), append(inFrench, f.Field(i).String())
	}
	return inEnglish, inFrench
}
