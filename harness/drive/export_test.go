package drive

import (
	"net/http"

	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/mocks"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// SocketAddress is where the server listens that socket trials share.
func SocketAddress(env *Env) string { return env.socket.address }

// Recorded is what a trial records of an agent that sends what no loop would.
func Recorded(sc scenarios.Scenario, env *Env, agent func(http.RoundTripper)) (record.Trial, error) {
	s, err := compile(sc.Backend)
	if err != nil {
		return record.Trial{}, err
	}
	t := s.begin(sc, 1, env)
	agent(mocks.NewTransport(t.engine))
	return t.finish(record.End{}), nil
}
