package drive

import (
	"net/http"

	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/mocks"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// Attach makes an engine reachable like that of a trial.
func Attach(env *Env, e *mocks.Engine) (url string, release func() error, err error) {
	return env.socket.attach(e, nil)
}

// Recorded returns the record of a trial whose agent sends requests that a loop would not.
func Recorded(sc scenarios.Scenario, env *Env, agent func(http.RoundTripper)) (record.Trial, error) {
	d, err := newDriver(sc, env, nil, false)
	if err != nil {
		return record.Trial{}, err
	}
	t := d.begin(1, nil)
	agent(mocks.NewTransport(t.engine))
	return t.finish(record.End{}), nil
}

// TryOwnNetwork returns an error if this machine gives programs no network of their own.
func TryOwnNetwork() error {
	network, err := newTrialNetwork(func(string) {})
	if err != nil {
		return err
	}
	return network.Close()
}
