package command

import "github.com/rehearse-dev/rehearse/internal/child"

// sweep kills what the program left behind.
func (p *Process) sweep() (left []string) {
	child.Kill(p.cmd)
	return nil
}
