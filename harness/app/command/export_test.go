package command

import "github.com/rehearse-dev/rehearse/harness/app"

// Read takes the answer out of what a program printed.
func Read(cfg Config, out []byte) (app.Answer, error) {
	a, err := New(cfg)
	if err != nil {
		return app.Answer{}, err
	}
	return a.(*agent).read(out)
}
