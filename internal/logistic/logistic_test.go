package logistic

import (
	"context"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"
)

func TestLogistic(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "internal/logistic")
}

// small is a problem of five rows and three columns.
func small() *Problem {
	positive := []bool{true, false, true, false, true}
	return &Problem{
		Rows: []Row{
			{[]int32{0, 1}, []float32{1, 0.5}},
			{[]int32{1, 2}, []float32{1, 2}},
			{[]int32{0, 1}, []float32{1, 1}},
			{[]int32{1, 2}, []float32{0.25, 1}},
			{[]int32{0, 2}, []float32{2, 1.5}},
		},
		Positive: func(i int) bool { return positive[i] },
		Weight:   []float64{1, 0.6, 0.3, 1, 2}, Prior: []float64{0.5, -0.25, 0, 0.1}, C: 2,
	}
}

// The solution of small by scipy.optimize.minimize with the method BFGS and gtol 1e-10.
var reference = []float64{1.6780547, -0.30075669, -0.57231233, -0.00936516}

const referenceLoss = 2.79796353

var _ = Describe("Solve", func() {
	It("finds the weights that another program finds", func() {
		p := small()
		w := p.Solve(context.Background(), p.Prior)
		for i, want := range reference {
			Expect(w[i]).To(BeNumerically("~", want, 0.01))
		}
		Expect(p.gradient(w, make([]float64, 4))).To(BeNumerically("~", referenceLoss, 1e-4))
	})

	It("ignores rows with the weight 0", func() {
		p := small()
		p.Weight[1] = 0
		w := p.Solve(context.Background(), p.Prior)
		p.Rows[1] = Row{[]int32{0, 1, 2}, []float32{9, -9, 9}}
		Expect(p.Solve(context.Background(), p.Prior)).To(Equal(w))
	})

	It("descends along the gradient of its loss", func() {
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			p, g := small(), make([]float64, 4)
			w := rapid.SliceOfN(rapid.Float64Range(-3, 3), 4, 4).Draw(t, "w")
			p.gradient(w, g)
			const h = 1e-6
			for i := range w {
				up, down := append([]float64(nil), w...), append([]float64(nil), w...)
				up[i] += h
				down[i] -= h
				scratch := make([]float64, 4)
				slope := (p.gradient(up, scratch) - p.gradient(down, scratch)) / (2 * h)
				if d := slope - g[i]; d > 1e-3 || d < -1e-3 {
					t.Fatalf("weight %d: slope %g, gradient %g", i, slope, g[i])
				}
			}
		})
	})

	It("returns nothing if the context has ended", func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		p := small()
		Expect(p.Solve(ctx, p.Prior)).To(BeNil())
	})
})
