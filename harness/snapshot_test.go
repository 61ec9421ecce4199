package harness_test

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness"
)

var _ = Describe("a snapshot", func() {
	rehearsed := func() *harness.Result {
		GinkgoHelper()
		res, err := harness.Rehearse(context.Background(), harness.Rehearsal{Text: clerk, Functions: clerks})
		Expect(err).NotTo(HaveOccurred())
		return res
	}
	snapshot := func(file string) *testT {
		t, done := &testT{}, make(chan struct{})
		go func() {
			defer close(done)
			harness.Snapshot(t, file, rehearsed())
		}()
		<-done
		return t
	}

	It("is written with -update, and then matches", func() {
		file := filepath.Join(GinkgoT().TempDir(), "testdata", "hours.txt")
		Expect(snapshot(file).fatals).To(ConsistOf(ContainSubstring("does not exist; go test -update writes it")))
		before := flag.Lookup("update").Value.String()
		Expect(flag.Set("update", "true")).To(Succeed())
		DeferCleanup(flag.Set, "update", before)
		Expect(*snapshot(file)).To(Equal(testT{}))
		Expect(flag.Set("update", "false")).To(Succeed())
		Expect(*snapshot(file)).To(Equal(testT{}))
		Expect(os.ReadFile(file)).To(ContainSubstring(`answer   "At nine."`))
	})

	It("fails the test at the first difference", func() {
		file := filepath.Join(GinkgoT().TempDir(), "hours.txt")
		changed := strings.Replace(rehearsed().Trials[0].String(), "At nine.", "At ten.", 2)
		Expect(os.WriteFile(file, []byte(changed), 0o600)).To(Succeed())
		Expect(snapshot(file).errors).To(ConsistOf(And(ContainSubstring("in line 3:"), ContainSubstring(`At ten.`), ContainSubstring("go test -update accepts"))))
	})
})
