package cli

import (
	"errors"

	"github.com/spf13/cobra"
)

// safetyFlags are the flags of commands that let agents work on the user's files.
type safetyFlags struct {
	git, rollback bool
	sandbox       bool
	sandboxWrite  []string
}

func (s *safetyFlags) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&s.git, "git", false,
		"commit the files before the run and after each success on a branch rehearse/... of its own, not on yours")
	f.BoolVar(&s.rollback, "rollback", false,
		"with --git: after a failure restore the files of the last checkpoint; what is undone is kept under refs/rehearse/undone")
	s.registerSandbox(cmd)
}

// registerSandbox adds the flags of the sandbox.
func (s *safetyFlags) registerSandbox(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&s.sandbox, "sandbox", false,
		"start agents and checks in namespaces of their own (Linux), in which only their folder and their program's state are writable")
	f.StringArrayVar(&s.sandboxWrite, "sandbox-write", nil, "with --sandbox: a further folder or file that is writable")
}

func (s *safetyFlags) check() error {
	if s.rollback && !s.git {
		return errors.New("--rollback restores the checkpoints of --git; give both")
	}
	if len(s.sandboxWrite) > 0 && !s.sandbox {
		return errors.New("--sandbox-write is for --sandbox; give both")
	}
	return nil
}
