package scenarios_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/scenarios"
)

var _ = Describe("Hosts", func() {
	DescribeTable("are refused by name, by the names below, and by port",
		func(pattern, host string, want bool) {
			hosts := scenarios.Hosts{Refuse: []string{pattern}}
			Expect(hosts.Refuses(host)).To(Equal(want))
		},
		Entry(nil, "a.example", "a.example:443", true),
		Entry(nil, "A.Example", "a.example:443", true),
		Entry("a lookup of the name alone", "a.example", "a.example", true),
		Entry(nil, "a.example", "b.a.example:443", false),
		Entry(nil, "*.example", "b.a.example:443", true),
		Entry(nil, "*.example", "example:443", false),
		Entry(nil, "a.example:8443", "a.example:8443", true),
		Entry(nil, "a.example:8443", "a.example:443", false),
		Entry("a lookup, whose port is unknown", "a.example:8443", "a.example", true),
		Entry(nil, "[2001:db8::1]:443", "[2001:db8::1]:443", true),
	)

	It("are answered by the longest key that matches", func() {
		hosts := scenarios.Hosts{Stub: map[string]string{"a.example": "all", "a.example/v1": "one", "a.example:8443/v1": "port"}}
		answers := map[string]string{}
		for _, path := range []string{"/v1", "/v2"} {
			answers["443"+path], _ = hosts.Stubbed("a.example:443", path)
			answers["8443"+path], _ = hosts.Stubbed("a.example:8443", path)
		}
		Expect(answers).To(Equal(map[string]string{"443/v1": "one", "443/v2": "all", "8443/v1": "port", "8443/v2": "all"}))
		_, ok := hosts.Stubbed("b.example:443", "/v1")
		Expect(ok).To(BeFalse())
		Expect(hosts.Stubs("b.example:443")).To(BeEmpty())
		Expect(hosts.Stubs("a.example:443")).To(Equal([]string{"a.example", "a.example/v1"}))
	})
})

var _ = It("A stub is named without a scheme", Label("H-02"), func() {
	_, found := parse("name: a/b\ndrive: {command: {run: [x], turns: [hi], hosts: {stub: {'https://a.example/v1': a.json}}}}\n" +
		"backend: {model: gpt-4.1-mini, replies: [{text: a}]}\nexpect: {status: done}\n")
	Expect(found.Error()).To(ContainSubstring(`leave out the scheme; http and https are both answered: a.example/v1`))
})

var _ = DescribeTable("A host is either refused or answered on all paths", Label("H-02"), func(hosts, problem string) {
	_, found := parse("name: a/b\ndrive: {command: {run: [x], turns: [hi], hosts: " + hosts + "}}\n" +
		"backend: {model: gpt-4.1-mini, replies: [{text: a}]}\nexpect: {status: done}\n")
	if problem == "" {
		Expect(found).To(BeNil())
	} else {
		Expect(found.Error()).To(ContainSubstring(problem))
	}
},
	Entry("not both", "{refuse: [b.example, A.example], stub: {a.example: hi}}", `"a.example" is refused and answered (stub)`),
	Entry("unless some of its paths are answered", "{refuse: [a.example], stub: {a.example/v1: hi}}", ""),
	Entry("unless other hosts below a name are refused", "{refuse: ['*.example'], stub: {a.example: hi}}", ""),
)
