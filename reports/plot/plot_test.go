package plot_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("the pictures", func() {
	It("are as they were", func() {
		for name, p := range pictures() {
			Expect(p.SVG).NotTo(BeNil(), name+": "+p.Text)
			expectGolden(name+".svg", p.File())
		}
	})
})
