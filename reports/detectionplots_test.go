package reports_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/detect"
	"github.com/rehearse-dev/rehearse/reports"
)

var _ = Describe("the pictures", func() {
	It("show each detector's precision and recall, and thresholds where there are scores", func() {
		r := sampleDetection()
		pictures := reports.DetectionPlots(r.Detectors)
		Expect(pictures).To(HaveLen(3), "the second detector only says yes or no")
		Expect(pictures[0].Text).To(Equal("guard:balanced: precision 80 %, recall 80 %; naive: precision 66.7 %, recall 40 %."))
		Expect(pictures[0].SVG).NotTo(BeNil())
		Expect(pictures[1].Text).To(Equal("guard:balanced: expected calibration error 0.259."))
		Expect(pictures[1].SVG).NotTo(BeNil())
		Expect(pictures[2].Title).To(Equal("Thresholds of guard:balanced"))
		Expect(pictures[2].SVG).NotTo(BeNil())
	})
	It("explain an empty plot", func() {
		pictures := reports.DetectionPlots([]detect.Evaluation{{Detector: "none", Curve: &detect.Curve{}}})
		Expect(pictures).To(HaveLen(3))
		for _, p := range pictures {
			Expect(p.SVG).To(BeNil())
			Expect(p.Text).NotTo(BeEmpty())
		}
	})
})
