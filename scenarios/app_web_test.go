package scenarios_test

import (
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

const (
	rightHTTP = `name: a/web
drive:
  http:
    run: [./server]
    health: /healthz
    request:
      path: /chat
      headers: {X-Session: "{{.Session}}"}
      body: '{"say": {{json .Turn}}}'
    answer: $.reply
    session: $.id
    turns: [Hello, Bye]
backend: {unpriced: true, rules: [{text: Hi}]}
expect: {status: done}
`
	rightContainer = `name: a/container
drive:
  container:
    build: .
    port: 8080
    request: {path: '/chat?q={{urlquery .Turn}}'}
    turns: [Hello]
backend: {unpriced: true, rules: [{text: Hi}]}
expect: {status: done}
`
)

// changed is a scenario with one thing in place of another.
func changed(text, old, with string) string {
	if strings.Count(text, old) != 1 {
		panic(fmt.Sprintf("%q is not exactly once in the scenario", old))
	}
	return strings.Replace(text, old, with, 1)
}

var _ = Describe("An application that is driven", func() {
	It("is checked when the file is read", func() {
		for _, text := range []string{
			rightHTTP, rightContainer, changed(rightHTTP, "run: [./server]", "url: http://localhost:8080"),
			rightHTTP + "perturb: ['turn=2:restart']\n",
		} {
			_, found := parse(text)
			Expect(found).To(BeEmpty())
		}
	})

	DescribeTable("reports errors with their place",
		func(text, old, with, want string) {
			_, found := parse(changed(text, old, with))
			Expect(found.Error()).To(HavePrefix(want))
		},
		Entry("nothing to start", rightHTTP, "    run: [./server]\n", "", `s.yaml:3:3: no application; set run to [program, argument], or url`),
		Entry("started and there", rightHTTP, "    run: [./server]\n", "    run: [./server]\n    url: http://localhost\n", `s.yaml:5:10: url and run cannot both be set`),
		Entry("on another machine", rightHTTP, "run: [./server]", "url: http://example.org", `s.yaml:4:10: example.org is another machine`),
		Entry("the network of a running application", rightHTTP, "run: [./server]", "url: http://localhost\n    network: own", `s.yaml:5:14: network cannot be set for a running application (url)`),
		Entry("another network", rightHTTP, "run: [./server]", "run: [./server]\n    network: none", `s.yaml:5:14: found the text "none"; expected one of own, shared`),
		Entry("the variables of a running application", rightHTTP, "run: [./server]", "url: http://localhost\n    env: {A: b}", `s.yaml:5:5: env cannot be set for a running application (url)`),
		Entry("a health that is no path", rightHTTP, "/healthz", "healthz", `s.yaml:5:13: "healthz" is not a path`),
		Entry("a body that is no template", rightHTTP, "{{json .Turn}}", "{{json .Trun}}", `s.yaml:9:13: template: body:1:15: executing`),
		Entry("a header that is no template", rightHTTP, "{{.Session}}", "{{", `s.yaml:8:28: template: `),
		Entry("a request that is always the same", rightContainer, "?q={{urlquery .Turn}}", "", `s.yaml:6:5: body: the request is the same whatever the user says`),
		Entry("an answer that is no path", rightHTTP, "$.reply", "reply", `s.yaml:10:13: "reply" is not a JSON path; it begins with $`),
		Entry("a session that is no path", rightHTTP, "$.id", "$.[", `s.yaml:11:14: "$.[" is not a JSON path`),
		Entry("no turns", rightHTTP, "[Hello, Bye]", "[]", `s.yaml:3:3: there are no turns`),
		Entry("no container", rightContainer, "    build: .\n", "", `s.yaml:3:3: no container; set image, or build to the folder of a Dockerfile`),
		Entry("two containers", rightContainer, "build: .", "build: .\n    image: busybox", `s.yaml:5:12: image and build cannot both be set`),
		Entry("a port beyond all", rightContainer, "8080", "80800", `s.yaml:5:11: found the number 80800; expected at most 65535`),
		Entry("no port", rightContainer, "    port: 8080\n", "", `s.yaml:4:5: the key "port" is missing`),
		Entry("another departure at a turn", rightHTTP, "expect:", "perturb: ['turn=2:double']\nexpect:",
			`s.yaml:14:11: an external agent can only be killed and restarted at a turn (turn=2:restart)`),
		Entry("a departure at a turn that there is not", rightHTTP, "expect:", "perturb: ['turn=3:restart']\nexpect:", `s.yaml:14:11: turn 3 does not exist; there are 2 turns`),
		Entry("a restart of what others started", changed(rightHTTP, "run: [./server]", "url: http://localhost"), "expect:", "perturb: ['turn=2:restart']\nexpect:",
			`s.yaml:14:11: the agent does not run in one process of the harness from turn to turn`),
	)
})
