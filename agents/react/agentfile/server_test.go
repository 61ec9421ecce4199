package agentfile_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/react/agentfile"
)

var _ = Describe("An MCP server of a flag", Label("R-05"), func() {
	DescribeTable("has a name and a program or an address",
		func(text, name string, want agentfile.Server) {
			got, server, err := agentfile.ParseServer(text)
			Expect(err).NotTo(HaveOccurred())
			Expect(got).To(Equal(name))
			Expect(server).To(Equal(want))
		},
		Entry("named", "files=npx -y server .", "files", agentfile.Server{Command: []string{"npx", "-y", "server", "."}}),
		Entry("by its program", "/opt/MCP-Files2 .", "mcp-files", agentfile.Server{Command: []string{"/opt/MCP-Files2", "."}}),
		Entry("a named address", "docs=https://x.example/mcp?a=b", "docs", agentfile.Server{URL: "https://x.example/mcp?a=b"}),
		Entry("by its host", "https://docs.example.com/mcp?a=b", "docs", agentfile.Server{URL: "https://docs.example.com/mcp?a=b"}),
		Entry("by an address without a name", "http://127.0.0.1:8080/mcp", "mcp", agentfile.Server{URL: "http://127.0.0.1:8080/mcp"}),
		Entry("by an address of version 6", "http://[::1]:8080/mcp", "mcp", agentfile.Server{URL: "http://[::1]:8080/mcp"}),
	)

	DescribeTable("is refused",
		func(text, message string) {
			_, _, err := agentfile.ParseServer(text)
			Expect(err).To(MatchError(ContainSubstring(message)))
		},
		Entry("nothing", "files=", "the command is empty"),
		Entry("no host", "files=http://", "is not an address"),
		Entry("a password", "files=https://a:b@x/", "must not have a name or a password"),
		Entry("a program without letters", "./7 x", "the server needs a name, such as files=./7 x"),
	)

	It("has headers with the name of their server", func() {
		server, header, value, err := agentfile.ParseHeader("docs=Authorization: Bearer ${A}=:x")
		Expect(err).NotTo(HaveOccurred())
		Expect([]string{server, header, value}).To(Equal([]string{"docs", "Authorization", "Bearer ${A}=:x"}))
		for _, text := range []string{"", "Authorization: x", "docs=Authorization", "Docs=A: b"} {
			_, _, _, err := agentfile.ParseHeader(text)
			Expect(err).To(MatchError(ContainSubstring("write the name of a server and a header")), text)
		}
	})

	It("is hidden if a secret was redacted in it", func() {
		Expect(agentfile.Server{URL: "https://x/", Headers: map[string]string{"A": "Bearer ${B}"}}.Hidden()).To(BeFalse())
		Expect(agentfile.Server{URL: "https://x/", Headers: map[string]string{"A": "[REDACTED:secret]"}}.Hidden()).To(BeTrue())
		Expect(agentfile.Server{URL: "https://x/?k=[REDACTED:key]"}.Hidden()).To(BeTrue())
	})
})
