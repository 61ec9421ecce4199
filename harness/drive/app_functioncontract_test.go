package drive_test

import (
	"context"
	"errors"
	"strings"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/harness/app"
	"github.com/rehearse-dev/rehearse/harness/app/apptest"
	"github.com/rehearse-dev/rehearse/harness/record"
)

// demoFunction is a Go function that misbehaves as the demo agent does.
func demoFunction(do string) app.Maker {
	return func(site app.Site) func(context.Context, string) (string, error) {
		return func(ctx context.Context, text string) (string, error) {
			switch do {
			case "early-crash":
				panic("at once")
			case "early-exit":
				return "", errors.New("exit status 3")
			case "early-end":
				return "", nil
			}
			answer, err := chat(ctx, site, text)
			switch do {
			case "crash":
				panic("in the middle")
			case "exit":
				return "", errors.New("exit status 3")
			case "flood":
				return strings.Repeat("x", app.MaxAnswer+1), nil
			case "binary":
				return "\xff\xfe", nil
			case "hang":
				return "", site.Clock.Sleep(ctx, clock.Forever)
			}
			return answer, err
		}
	}
}

func init() {
	apptest.Contract(apptest.Subject{
		Name:  "a Go function",
		Drive: func(do string) string { return "  function:\n    name: demo-" + do + "\n" },
		Run: func(ctx context.Context, text string) record.Trial {
			_, do, _ := strings.Cut(text, "name: demo-")
			do, _, _ = strings.Cut(do, "\n")
			return talk(ctx, strings.Replace(text, "demo-\n", "demo\n", 1), demoFunction(do))
		},
		Lacks: map[string]string{
			"fork": "a function starts processes on its own account", "daemon": "a function starts processes on its own account",
			"elsewhere": "a function makes its calls in this process, whose network nothing closes",
			"stay":      "a goroutine cannot be killed; a spec of functions alone shows what is said",
		},
	})
}
