package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/input"
)

// askKind asks for the kind of agent, for its program, and for the package of an example unless the project has
// one. An empty answer accepts the proposal.
func askKind(ctx context.Context, lines <-chan string, out io.Writer, project fs.FS, flags *initFlags, found, sdk, why string) error {
	kinds := starterKinds()
	proposed := slices.IndexFunc(kinds, func(k starterKind) bool { return k.name == found }) + 1
	fmt.Fprintln(out, "Which kind of agent do you want to test?")
	for i, k := range kinds {
		fmt.Fprintf(out, "  %2d  %-9s %s\n", i+1, k.name, k.about)
	}
	if why != "" {
		why = ", because " + why
	}
	for flags.kind == "" {
		fmt.Fprintf(out, "Number or name [%d%s]: ", proposed, why)
		answer, err := readAnswer(ctx, lines)
		if err != nil {
			return err
		}
		answer = cmp.Or(answer, strconv.Itoa(proposed))
		if n, err := strconv.Atoi(answer); err == nil && n >= 1 && n <= len(kinds) {
			answer = kinds[n-1].name
		}
		if _, err := findStarterKind(answer); err != nil {
			fmt.Fprintf(out, "%q is not in the list.\n", answer)
			continue
		}
		flags.kind = answer
	}
	kind, err := findStarterKind(flags.kind)
	if err != nil || flags.program != "" || kind.scenario != "command" && kind.scenario != "http" {
		return err
	}
	err = askProgram(ctx, lines, out, flags, kind.findProgram(project))
	if err != nil || flags.program != "" || flags.sdk != "" || len(kind.sdks) == 0 ||
		kind.name == found && sdk != "none" {
		return err
	}
	for {
		fmt.Fprintf(out, "Package that it calls the model with: %s [none]: ", joined(kind.sdks))
		answer, err := readAnswer(ctx, lines)
		if answer = cmp.Or(answer, "none"); err != nil || slices.Contains(kind.sdks, answer) {
			flags.sdk = answer
			return err
		}
		fmt.Fprintf(out, "%q is not in the list.\n", answer)
	}
}

// askProgram asks for the user's program; by default the one that looks like it, or an example.
func askProgram(ctx context.Context, lines <-chan string, out io.Writer, flags *initFlags, proposed string) (err error) {
	question := "Your program, such as src/agent.py (Enter: an example): "
	if proposed != "" {
		question = fmt.Sprintf("Your program (Enter: %s; - for an example): ", proposed)
	}
	fmt.Fprint(out, question)
	answer, err := readAnswer(ctx, lines)
	if flags.program = cmp.Or(answer, proposed); flags.program == "-" {
		flags.program = ""
	}
	return err
}

func readAnswer(ctx context.Context, lines <-chan string) (string, error) {
	answer, err := input.ReadAnswer(ctx, lines)
	if errors.Is(err, input.ErrEnd) {
		return "", nil
	}
	return strings.TrimSpace(answer), err
}
