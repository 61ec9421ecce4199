package scenarios_test

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/kinds"
	"github.com/rehearse-dev/rehearse/scenarios"
)

var _ = Describe("a live backend", func() {
	const scenario = "name: a/live\ndrive: {loop: {prompt: Work.}}\nbackend: {BACKEND}\nexpect: {status: done}\n"
	problems := func(backend string) []string {
		text := strings.Replace(scenario, "BACKEND", backend, 1)
		_, found := scenarios.Parse("s.yaml", []byte(text), nil, scenarios.Options{Kinds: kinds.All().Formats()})
		var all []string
		for _, d := range found {
			all = append(all, d.Path+": "+d.Message)
		}
		return all
	}
	const good = "as: live, url: 'https://api.example.com/v1', key_env: EXAMPLE_KEY, model: gpt-4.1-mini, retry: 2"

	It("needs no script", func() {
		Expect(problems(good)).To(BeEmpty())
		Expect(problems("as: live, url: 'http://127.0.0.1:11434/v1', model: llama, unpriced: true")).To(BeEmpty())
	})

	DescribeTable("reports errors", func(backend string, want ...string) {
		Expect(problems(backend)).To(Equal(want))
	},
		Entry("with a script", good+", lenient: true, rules: [{text: x}]",
			"backend.lenient: a live backend has no script, and so no lenient; it has url, key_env, model and retry",
			"backend.rules: a live backend has no script, and so no rules; it has url, key_env, model and retry"),
		Entry("without a place", "as: live, model: gpt-4.1-mini",
			"backend.url: a live backend needs the URL of its API, such as url: https://api.openai.com/v1"),
		Entry("at no place", "as: live, url: api.example.com, model: gpt-4.1-mini",
			"backend.url: this is not the URL of an API; write it like https://api.openai.com/v1"),
		Entry("with a key in the URL", "as: live, url: 'https://k:secret@api.example.com/v1', model: gpt-4.1-mini",
			"backend.url: the URL of an API has no user, query or fragment; name a key by key_env"),
		Entry("in the clear", "as: live, url: 'http://api.example.com/v1', model: gpt-4.1-mini",
			"backend.url: http would send the key and all texts unencrypted; write https, unless the server is on this machine"),
		Entry("with the key itself, which is not repeated", "as: live, url: 'https://api.example.com/v1', key_env: sk-live-123, model: gpt-4.1-mini",
			"backend.key_env: this is not the name of a variable; name the variable that contains the key, such as OPENAI_API_KEY, never the key itself"),
		Entry("without a model", "as: live, url: 'https://api.example.com/v1', unpriced: true",
			"backend.model: a live backend needs a model"),
		Entry("where the backend is scripted", "model: gpt-4.1-mini, replies: [{text: DONE}], url: 'https://api.example.com/v1', key_env: K",
			"backend.url: only a live backend has url; write as: live",
			"backend.key_env: only a live backend has key_env; write as: live"),
	)

	It("is not for somebody else's agent, nor for perturbed runs", func() {
		text := strings.Replace(scenario, "BACKEND", good, 1)
		text = strings.Replace(text, "loop: {prompt: Work.}", "command: {run: [agent], turns: [Hello]}", 1) + "perturb: ['call=1:timeout']\n"
		_, found := scenarios.Parse("s.yaml", []byte(text), nil, scenarios.Options{Kinds: kinds.All().Formats()})
		Expect(found.Err()).To(MatchError(And(
			ContainSubstring("an external agent can only use scripted backends"),
			ContainSubstring("only a scripted backend can be perturbed, not a live one"))))
	})
})
