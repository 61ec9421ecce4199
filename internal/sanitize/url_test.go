package sanitize_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

var _ = DescribeTable("MaskURL",
	func(raw, want string) { Expect(sanitize.MaskURL(raw)).To(Equal(want)) },
	Entry(nil, "https://api.example.com/v1", "https://api.example.com/v1"),
	Entry(nil, "https://api.example.com/v1?key=hunter2", "https://api.example.com/v1?***"),
	Entry(nil, "https://api.example.com/v1#hunter2", "https://api.example.com/v1#***"),
	Entry(nil, "https://me:hunter2@api.example.com/v1", "***@api.example.com/v1"),
	Entry(nil, "https://me:hunter2@api.example.com/v1?key=hunter2#x", "***@api.example.com/v1?***"),
	Entry(nil, "https://me:hun@ter2@api.example.com", "***@api.example.com"),
	Entry(nil, "https://me:hun?ter2@api.example.com", "***"),
	Entry(nil, "https://api.example.com?key=hun@ter2", "***"),
	Entry(nil, "://?hunter2", "://?***"),
	Entry(nil, "", ""),
)
