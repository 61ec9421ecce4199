package failword_test

import (
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/internal/failword"
)

func TestIn(t *testing.T) {
	for text, want := range map[string]bool{
		"":                                  false,
		"ok":                                false,
		"refunded 20 EUR":                   false,
		"20 € remboursés":                   false,
		"the terror of the seas":            false,
		"All checks passed, no errors.":     false,
		"0 errors, 0 failures":              false,
		"Terminé sans erreur.":              false,
		`{"error": null, "refunded": 20}`:   false,
		`{"isError":false,"text":"done"}`:   false,
		"Refund issued.":                    false,
		`{"status":"paid","order":"A-500"}`: false,
		`{"success": true, "failed": 0}`:    false,
		"HTTP 200, exit code 0":             false,
		"La liste est vidée.":               false,

		`{"success": false, "note": "call us"}`: true, `{"ok":false}`: true, `{"isError":true}`: true,
		`{\"success\":false}`: true, "{'success': False}": true, "success=false": true,
		"HTTP 503": true, `{"status": 404}`: true, "HTTP/1.1 502": true, "status code 429": true, "503 Service Unavailable": true,
		"exit code 1": true, `{"exit_code": 2}`: true, "exit status 127": true,
		"The shop declined the request.": true, "Nothing was refunded; ask the customer to phone us.": true, "Refund not done.": true,
		"empty answer": true, "the reply of the model was blank": true, "giving up": true, `{"level":50,"msg":"no content"}`: true,
		"Sorry, please ask later.": true, "The order isn’t refunded": true,
		"La boutique est injoignable.": true, "Le service a planté.": true, "réponse vide du modèle": true, "une liste vide": true,
		"Ce n'est pas fait.": true, "Rien n’a été remboursé.": true,

		"The refund tool broke.": true, "The shop is offline": true, "Unfortunately we have to stop here": true,
		"Le service est hors ligne": true, "Désolé, la connexion est coupée.": true,

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

func TestInReadsBothEnds(t *testing.T) {
	filler := strings.Repeat("fine ", 20_000)
	for text, want := range map[string]bool{filler: false, "It failed. " + filler: true, filler + " It failed.": true} {
		if got := failword.In(text); got != want {
			t.Errorf("In(%.12q ...) = %v, want %v", text, got, want)
		}
	}
}
