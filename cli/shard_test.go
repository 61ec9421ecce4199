package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/kinds"
)

// TestShardsAreOneRun is H-04 over shipped scenarios: the merged shards of a run equal the run,
// byte for byte. Scenarios in real time are left out, whose times differ from run to run.
func TestShardsAreOneRun(t *testing.T) {
	g := gomega.NewWithT(t)
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	rehearse := func(args ...string) {
		t.Helper()
		var errs bytes.Buffer
		if code := run(kinds.All(), args, strings.NewReader(""), io.Discard, &errs); code != exitPass {
			t.Fatalf("%q exits with %d:\n%s", args, code, errs.String())
		}
	}
	selected := []string{
		"run", "loop/*", "stop/*", "persist/*", "react/golden-*", "interview/golden-*",
		"-k", "not (claude or codex or process or socket or exec or edit or denials or busy)", "--exclude", "stop/stream",
	}
	rehearse(append(selected, "--out", in("whole"), "--history", "none")...) // which adds the date to the page
	if _, err := os.Stat(in("whole/timings.jsonl")); err == nil {
		names, _ := os.ReadFile(in("whole/timings.jsonl"))
		t.Fatalf("scenarios in real time are among the selected ones: %.300s", names)
	}
	merge := []string{"merge"}
	for i := 3; i > 0; i-- {
		shard := in(fmt.Sprint(i))
		rehearse(append(selected, "--out", shard, "--shard", fmt.Sprintf("%d/3", i), "--html=false")...)
		merge = append(merge, shard)
	}
	rehearse(append(merge, "--out", in("merged"))...)
	for _, name := range []string{"recording.jsonl", "report.json", "junit.xml", "report.md"} {
		whole, err := os.ReadFile(in("whole/" + name))
		g.Expect(err).NotTo(gomega.HaveOccurred())
		merged, err := os.ReadFile(in("merged/" + name))
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(len(whole)).To(gomega.BeNumerically(">", 1000), name)
		g.Expect(bytes.Equal(whole, merged)).To(gomega.BeTrue(), name)
	}
}
