package cli

import (
	"path/filepath"
	"regexp"
	"testing"

	"github.com/onsi/gomega"
	"pgregory.net/rapid"
)

func TestPlanNames(t *testing.T) {
	g := gomega.NewWithT(t)
	for folder, want := range map[string]string{
		"shop": "shop", "/x/My Shop": "my-shop", "/x/.hidden": "hidden", "/": "project", "/x/été": "t", "/x/日本": "project",
	} {
		g.Expect(planName(folder)).To(gomega.Equal(want), folder)
	}
	valid := regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,63}$`) // as the plan's schema says
	rapid.Check(t, func(t *rapid.T) {
		folder := filepath.Join("/", rapid.String().Draw(t, "folder"))
		if name := planName(folder); !valid.MatchString(name) {
			t.Fatalf("%q becomes %q", folder, name)
		}
	})
}
