package drive_test

import (
	"context"
	"errors"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/app"
	"github.com/rehearse-dev/rehearse/scenarios"
)

var _ = DescribeTable("an agent that fails before it has called its model", Label("H-04"),
	func(path, status string) {
		t := talk(context.Background(), "name: spec/early\ndrive: {function: {name: f, turns: [Go.]}}\n"+
			"backend: {unpriced: true, storage: [{request: POST /v1/batches, fault: {kind: status, status: 401}}], rules: [{text: x, optional: true}]}\n"+
			"expect: {status: failed, calls: 0}"+tickets,
			func(site app.Site) func(context.Context, string) (string, error) {
				return func(ctx context.Context, _ string) (string, error) {
					if path == "mcp" {
						return "", errors.Join(errors.New("gave up"), connect(ctx, site))
					}
					if path != "" {
						_, _ = post(ctx, site, path, map[string]any{"model": "m", "input": "a"})
					}
					return "", errors.New("gave up")
				}
			})
		Expect(t.End.Status).To(Equal(status))
		Expect(t.End.AgentError).To(Equal(status == scenarios.AppError))
		Expect(t.End.HarnessError + t.End.Details).To(ContainSubstring("gave up"))
		Expect(t.Calls).To(BeEmpty())
	},
	Entry("gives no verdict if it spoke to nothing", "", scenarios.AppError),
	Entry("gives no verdict if it only sent requests to unknown paths", "/v1/embedings", scenarios.AppError),
	Entry("has failed if its backend answered another request", "/v1/embeddings", scenarios.AppFailed),
	Entry("has failed if its backend refused another request", "/v1/batches", scenarios.AppFailed),
	Entry("has failed if it spoke to a scripted MCP server", "mcp", scenarios.AppFailed),
)

// connect connects to the first MCP server.
func connect(ctx context.Context, site app.Site) error {
	client := sdk.NewClient(&sdk.Implementation{Name: "spec", Version: "1"}, nil)
	session, err := client.Connect(ctx, &sdk.StreamableClientTransport{Endpoint: site.MCP[0].URL, HTTPClient: site.Client, MaxRetries: -1}, nil)
	if err != nil {
		return err
	}
	return session.Close()
}
