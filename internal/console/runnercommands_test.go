package console

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/onsi/gomega"
	"pgregory.net/rapid"
)

func TestRunnerCommands(t *testing.T) {
	g := gomega.NewWithT(t)
	for text, want := range map[string]string{
		"":                          "",
		"a # b ## c [d]":            "a # b ## c [d]",
		"x ##[set-output name=k;]v": `x ##\u005bset-output name=k;]v`,
		"###[group]##[endgroup]":    `###\u005bgroup]##\u005bendgroup]`,
		`{"text":"##[add-mask]e"}`:  `{"text":"##\u005badd-mask]e"}`,
	} {
		for n := 1; n <= len(text)+1; n++ { // in writes of n bytes
			var out bytes.Buffer
			w := WithoutRunnerCommands(&out)
			for rest := []byte(text); len(rest) > 0; rest = rest[min(n, len(rest)):] {
				written, err := w.Write(rest[:min(n, len(rest))])
				g.Expect(err).NotTo(gomega.HaveOccurred())
				g.Expect(written).To(gomega.Equal(min(n, len(rest))))
			}
			g.Expect(out.String()).To(gomega.Equal(want), "%q in writes of %d bytes", text, n)
		}
	}
}

func TestRunnerCommandsInFiles(t *testing.T) {
	g := gomega.NewWithT(t)
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	defer file.Close()
	g.Expect(WithoutRunnerCommands(file)).To(gomega.BeIdenticalTo(file))
	var out bytes.Buffer
	g.Expect(Unfiltered(WithoutRunnerCommands(&out))).To(gomega.BeIdenticalTo(&out))
}

func TestRunnerCommandsNeverPass(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var out bytes.Buffer
		w := WithoutRunnerCommands(&out)
		var whole string
		for _, part := range rapid.SliceOf(rapid.StringMatching(`[#\[a]{0,5}`)).Draw(rt, "parts") {
			_, _ = w.Write([]byte(part))
			whole += part
		}
		if want := strings.ReplaceAll(whole, runnerCommand, harmlessCommand); out.String() != want {
			rt.Fatalf("%q became %q, want %q", whole, out.String(), want)
		}
	})
}
