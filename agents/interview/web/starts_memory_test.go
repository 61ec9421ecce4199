package web

import (
	"net/netip"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("The addresses that begin interviews", func() {
	It("are remembered in a bounded memory, and strangers beyond it are limited together", func() {
		s, now := starts[netip.Prefix]{each: 2}, time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)
		from := func(i int) netip.Prefix {
			return netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}), 32)
		}
		for i := range maxAddresses {
			Expect(s.take(from(i), now)).To(BeZero())
		}
		Expect(s.take(from(maxAddresses+1), now)).To(BeZero())
		Expect(s.take(from(maxAddresses+2), now)).To(BeZero())
		Expect(s.take(from(maxAddresses+3), now)).To(Equal(30 * time.Second))
		Expect(s.addresses).To(HaveLen(maxAddresses))
		Expect(s.take(from(maxAddresses+3), now.Add(time.Minute))).To(BeZero())
		Expect(s.addresses).To(HaveLen(1), "who has been quiet is forgotten")
	})
})
