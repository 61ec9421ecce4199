package drive_test

import (
	"testing"

	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/kinds"
	"github.com/rehearse-dev/rehearse/llm/price"
	"github.com/rehearse-dev/rehearse/llm/token"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// BenchmarkInterview measures the golden path of an interview, all of it: the client,
// the HTTP face without a socket, the service, SQLite in memory, the real client
// of the API and the scripted backend, in virtual time.
func BenchmarkInterview(b *testing.B) {
	set, found := scenarios.Load([]string{"interview/golden-lea"}, scenarios.Options{Kinds: kinds.All().Formats()})
	if len(found) > 0 {
		b.Fatal(found)
	}
	prices, err := price.Default()
	if err != nil {
		b.Fatal(err)
	}
	env := &drive.Env{Makers: kinds.All().Makers(), Prices: prices, Tokens: token.NewCounter(token.Options{})}
	driver, err := drive.New(set[0], env)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		trial, _ := driver.Trial(b.Context(), 1)
		if trial.End.Status != "finished" || len(trial.Calls) != 24 {
			b.Fatalf("%+v", trial.End)
		}
	}
}
