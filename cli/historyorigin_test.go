package cli

import "testing"

func TestCommandLineHasNoSecrets(t *testing.T) {
	t.Setenv("DEMO_API_KEY", "sk-demo-1234567890abcdef")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"run", "order-*", "-k", "refund and not slow"}, "rehearse run 'order-*' -k 'refund and not slow'"},
		{[]string{"run", "--history", "postgres://ada:secret@db/runs"}, "rehearse run --history '***@db/runs'"},
		{[]string{"run", "--history=postgres://ada:secret@db/runs?sslmode=off"}, "rehearse run '--history=***@db/runs?***'"},
		{[]string{"run", "--label", "key=sk-demo-1234567890abcdef"}, "rehearse run --label 'key=[REDACTED:api-key]'"},
	} {
		if got := (&app{args: c.args}).commandLine(); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}
