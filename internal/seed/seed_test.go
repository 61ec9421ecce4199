package seed_test

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/internal/seed"
)

// The numbers are those of the authors' splitmix64.c with the seed 1234567.
func TestMix(t *testing.T) {
	g := gomega.NewWithT(t)
	state := uint64(1234567)
	for _, want := range []uint64{6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821} {
		state += seed.Gamma
		g.Expect(seed.Mix(state)).To(gomega.Equal(want))
	}
}
