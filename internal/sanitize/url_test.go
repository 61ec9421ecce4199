package sanitize_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

var _ = DescribeTable("MaskURL",
	func(raw, want string) { Expect(sanitize.MaskURL(raw)).To(Equal(want)) },
	Entry("no secret", "https://api.example.com/v1", "https://api.example.com/v1"),
	Entry("a query", "https://api.example.com/v1?key=hunter2", "https://api.example.com/v1?***"),
	Entry("a fragment", "https://api.example.com/v1#hunter2", "https://api.example.com/v1#***"),
	Entry("a user", "https://me:hunter2@api.example.com/v1", "***@api.example.com/v1"),
	Entry("a user, a query and a fragment", "https://me:hunter2@api.example.com/v1?key=hunter2#x", "***@api.example.com/v1?***"),
	Entry("a password with an @", "https://me:hun@ter2@api.example.com", "***@api.example.com"),
	Entry("a password with a ?", "https://me:hun?ter2@api.example.com", "***"),
	Entry("a query with an @", "https://api.example.com?key=hun@ter2", "***"),
	Entry("an invalid URL", "://?hunter2", "://?***"),
	Entry("nothing", "", ""),
)
