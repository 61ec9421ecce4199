//go:build unix

package hook_test

import (
	"path/filepath"
	"syscall"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = DescribeTable("a transcript that would never end lets the agent stop", unreadable,
	Entry("a device", func(string) string { return "/dev/zero" }, "not a regular file"),
	Entry("a pipe that nobody writes to", func(dir string) string {
		pipe := filepath.Join(dir, "pipe")
		Expect(syscall.Mkfifo(pipe, 0o600)).To(Succeed())
		return pipe
	}, "not a regular file"),
)
