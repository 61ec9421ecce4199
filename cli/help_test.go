package cli

import (
	"io"
	"os"
	"strings"
	"testing"

	"github.com/onsi/gomega"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestEveryCommandIsExplained walks all commands, so that a new one cannot be
// forgotten.
func TestEveryCommandIsExplained(t *testing.T) {
	a := &app{stdin: strings.NewReader(""), stdout: io.Discard, stderr: io.Discard, getenv: os.Getenv}
	seen := 0
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		seen++
		t.Run(cmd.CommandPath(), func(t *testing.T) {
			g := gomega.NewWithT(t)
			g.Expect(cmd.Short).NotTo(gomega.BeEmpty())
			if cmd.Runnable() { // otherwise it is a topic of help
				g.Expect(cmd.Example).To(gomega.ContainSubstring(cmd.CommandPath()))
			}
			for line := range strings.Lines(wrapText(cmd.Long) + "\n" + cmd.Example) {
				g.Expect(len(strings.TrimRight(line, "\n"))).To(gomega.BeNumerically("<=", 100), line)
			}
			cmd.Flags().VisitAll(func(f *pflag.Flag) { g.Expect(f.Usage).NotTo(gomega.BeEmpty(), f.Name) })
		})
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	root := a.root()
	root.InitDefaultHelpCmd() // otherwise added when the program runs
	walk(root)
	gomega.NewWithT(t).Expect(seen).To(gomega.BeNumerically(">=", 11), "root and its commands")
}
