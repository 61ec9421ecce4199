package format_test

import (
	"os/exec"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/internal/format"
)

func TestPlainWordsStayAsTheyAre(t *testing.T) {
	if got := format.ShellLine("rehearse", "bless", "rehearse-runs/20261121-1", "--baseline", "my baseline.json", "it's", "", "call=7:x", "~"); got !=
		`rehearse bless rehearse-runs/20261121-1 --baseline 'my baseline.json' 'it'\''s' '' 'call=7:x' '~'` {
		t.Error(got)
	}
}

func TestTheShellReadsTheWordsBack(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("this system has no sh")
	}
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringOfN(rapid.RuneFrom([]rune("ab '\"$`\\!*?[]{}()<>|&;#~=%^\n\té")), 0, 30, -1).Draw(t, "word")
		out, err := exec.Command(sh, "-c", format.ShellLine("printf", "%s", word)).Output()
		if err != nil || strings.Compare(string(out), word) != 0 {
			t.Fatalf("%q comes back as %q: %v", word, out, err)
		}
	})
}
