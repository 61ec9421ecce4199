package atomicdir_test

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/internal/atomicdir"
)

var _ = Describe("a file that is updated", func() {
	It("loses no change of several that are made at once", func() {
		file := filepath.Join(GinkgoT().TempDir(), "counter")
		var all sync.WaitGroup
		for range 40 {
			all.Go(func() {
				defer GinkgoRecover()
				Expect(atomicdir.Update(file, func(old []byte) ([]byte, error) {
					n, _ := strconv.Atoi(string(old)) // 0 at the first time
					return []byte(strconv.Itoa(n + 1)), nil
				})).To(Succeed())
			})
		}
		all.Wait()
		Expect(os.ReadFile(file)).To(BeEquivalentTo("40"))
	})

	It("stays as it is if the change is refused", func() {
		file := filepath.Join(GinkgoT().TempDir(), "counter")
		Expect(os.WriteFile(file, []byte("7"), 0o600)).To(Succeed())
		refused := errors.New("refused")
		Expect(atomicdir.Update(file, func([]byte) ([]byte, error) { return nil, refused })).To(MatchError(refused))
		Expect(os.ReadFile(file)).To(BeEquivalentTo("7"))
	})

	It("needs its folder", func() {
		err := atomicdir.Update(filepath.Join(GinkgoT().TempDir(), "none", "counter"), func([]byte) ([]byte, error) { return nil, nil })
		Expect(err).To(MatchError(ContainSubstring("lock ")))
	})
})
