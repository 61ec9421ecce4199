package cli

import (
	"strings"
	"testing"

	"github.com/onsi/gomega"
)

func TestOnlyAGuardWithAHostIsAHook(t *testing.T) {
	for line, want := range map[string]bool{
		"guard --host claude":             true,
		"guard --polcy x --host=auto":     true,
		"guard a b --host":                true,
		"guard message.md":                false,
		"guard --install claude":          false,
		"run --host claude":               false,
		"":                                false,
		"guard --hosts claude --policy x": false,
	} {
		gomega.NewWithT(t).Expect(asHook(strings.Fields(line))).To(gomega.Equal(want), line)
	}
}
