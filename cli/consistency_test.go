package cli

import (
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/onsi/gomega"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rehearse-dev/rehearse/kinds"
)

// allCommands calls visit for each command but those that cobra adds.
func allCommands(visit func(*cobra.Command)) {
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		if cmd.Name() == "completion" || cmd.Name() == "help" {
			return
		}
		visit(cmd)
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	walk(quietRoot())
}

// quietRoot returns the command rehearse, with nothing to read or to print to.
func quietRoot() *cobra.Command {
	a := &app{stdin: strings.NewReader(""), stdout: io.Discard, stderr: io.Discard, getenv: os.Getenv, kinds: kinds.All(), language: kinds.Language()}
	return a.root()
}

// documentedExit matches an exit code in a help text.
var documentedExit = regexp.MustCompile(`(?s)Exit codes?:?\s.*\b[02]\b`)

// TestExitCodesAreDocumented checks that the help of each command that does something names its
// exit codes.
func TestExitCodesAreDocumented(t *testing.T) {
	allCommands(func(cmd *cobra.Command) {
		if cmd.HasSubCommands() || !cmd.Runnable() || cmd.Name() == "version" {
			return // 0, unless it is used wrongly
		}
		t.Run(cmd.CommandPath(), func(t *testing.T) {
			gomega.NewWithT(t).Expect(documentedExit.MatchString(wrapText(cmd.Long))).To(gomega.BeTrue(), cmd.Long)
		})
	})
}

// TestFlagsAreConsistent checks that a flag of one name has one type and one shorthand in all
// commands, that a shorthand is one flag, and that there is one way to ask for JSON.
func TestFlagsAreConsistent(t *testing.T) {
	// severalTypes are flags that have another meaning in one of the commands. Do not add any.
	severalTypes := map[string]string{
		"host":     "guard: the host whose hook it is",
		"max-cost": "interview serve: EUR of each session, 0 for no limit",
		"min":      "detect: thresholds by measure; history flaky: the number of trials",
		"history":  "guard: the decisions of the hooks; loop: what each prompt repeats",
		"label":    "detect: label messages; run: labels of the recording",
		"require":  "experiment: the required result; run: what this machine must have",
	}
	first, owner := map[string]*pflag.Flag{}, map[string]string{}
	shorthands := map[string]string{}
	allCommands(func(cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Shorthand != "" {
				if other, ok := shorthands[f.Shorthand]; ok && other != f.Name {
					t.Errorf("%s: -%s is --%s, and elsewhere --%s", cmd.CommandPath(), f.Shorthand, f.Name, other)
				}
				shorthands[f.Shorthand] = f.Name
			}
			known, ok := first[f.Name]
			if !ok {
				first[f.Name], owner[f.Name] = f, cmd.CommandPath()
				return
			}
			if f.Shorthand != known.Shorthand {
				t.Errorf("--%s has the shorthand %q in %s and %q in %s", f.Name, f.Shorthand, cmd.CommandPath(), known.Shorthand, owner[f.Name])
			}
			if kindOf(f) != kindOf(known) && severalTypes[f.Name] == "" {
				t.Errorf("--%s is %s in %s and %s in %s", f.Name, kindOf(f), cmd.CommandPath(), kindOf(known), owner[f.Name])
			}
		})
		// The format of import is that of the files which it reads; it prints none.
		if format := cmd.Flags().Lookup("format"); format != nil {
			if cmd.Flags().Lookup("json") == nil || strings.Contains(format.Usage, "json") {
				t.Errorf("%s: JSON is --json, not one of the formats", cmd.CommandPath())
			}
		}
		if cmd.Flags().Lookup("json") != nil && strings.Contains(cmd.Flags().Lookup("json").Usage, "standard output") {
			t.Errorf("%s: write the usage of --json with jsonFlag or formatFlag", cmd.CommandPath())
		}
	})
	gomega.NewWithT(t).Expect(len(first)).To(gomega.BeNumerically(">", 50))
}

// kindOf returns whether a flag is a switch, a list, a number or a text.
func kindOf(f *pflag.Flag) string {
	switch kind := f.Value.Type(); kind {
	case "bool", "boolfunc":
		return "a switch"
	case "stringSlice", "stringArray", "strings":
		return "a list"
	case "int", "uint64", "float64", "duration":
		return kind
	default:
		return "a text"
	}
}

// TestCommandsThatSelectShareTheirFlags checks that the flags of a selection are the same in all
// commands that take patterns.
func TestCommandsThatSelectShareTheirFlags(t *testing.T) {
	flags := []string{"keyword", "tag", "file", "exclude", "failed"}
	seen := 0
	usage := map[string]string{}
	allCommands(func(cmd *cobra.Command) {
		if cmd.Flags().Lookup("keyword") == nil {
			return
		}
		seen++
		for _, name := range flags {
			f := cmd.Flags().Lookup(name)
			if f == nil {
				t.Errorf("%s has no --%s", cmd.CommandPath(), name)
				continue
			}
			if usage[name] != "" && usage[name] != f.Usage {
				t.Errorf("%s: --%s differs: %s", cmd.CommandPath(), name, f.Usage)
			}
			usage[name] = f.Usage
		}
		if cmd.ValidArgsFunction == nil {
			t.Errorf("%s does not complete the names of scenarios", cmd.CommandPath())
		}
	})
	gomega.NewWithT(t).Expect(seen).To(gomega.BeNumerically(">=", 4), "run, list, check, explore")
}
