package failword_test

import (
	"testing"

	"github.com/rehearse-dev/rehearse/internal/failword"
)

func TestIn(t *testing.T) {
	for text, want := range map[string]bool{
		"":                                 false,
		"ok":                               false,
		"refunded 20 EUR":                  false,
		"20 € remboursés":                  false,
		"the terror of the seas":           false,
		"All checks passed, no errors.":    false,
		"0 errors, 0 failures":             false,
		"Terminé sans erreur.":             false,
		`{"error": null, "refunded": 20}`:  false,
		`{"isError":false,"text":"done"}`:  false,
		`{"error":"the tool failed"}`:      true,
		`{"is_error":true}`:                true,
		"MCP error -32603: internal error": true,
		"It did not work":                  true, "It wasn’t there": true,
		"TypeError: fetch failed":                      true,
		"The tool couldn't be reached.":                true,
		"The shop is unavailable":                      true,
		"Request timed out":                            true,
		"L'outil n'a pas répondu.":                     true,
		"Échec de l'outil":                             true,
		"Service indisponible, réessayez plus tard":    true,
		"Une erreur s’est produite":                    true,
		"no errors in the list, but the server failed": true,
	} {
		if got := failword.In(text); got != want {
			t.Errorf("In(%q) = %v, want %v", text, got, want)
		}
	}
}
