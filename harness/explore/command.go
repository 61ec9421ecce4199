package explore

import (
	"strings"

	"github.com/rehearse-dev/rehearse/scenarios"
)

// Command is what a person types to repeat a perturbed run of a scenario.
func Command(sc *scenarios.Scenario, perturb []string) string {
	args := []string{"rehearse", "run", argument(sc)}
	for _, text := range perturb {
		args = append(args, "--perturb", text)
	}
	for i, arg := range args {
		args[i] = quoted(arg)
	}
	return strings.Join(args, " ")
}

// shippedPrefix begins the names of the files of shipped scenarios.
const shippedPrefix = "shipped:"

// argument is how a scenario is named on the command line.
func argument(sc *scenarios.Scenario) string {
	switch {
	case sc.File == "" || strings.HasPrefix(sc.File, shippedPrefix):
		return sc.Name
	case strings.HasPrefix(sc.File, "-"):
		return "./" + sc.File
	}
	return sc.File
}

// plainChars are those that a POSIX shell takes as they are, wherever they stand.
const plainChars = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789%+,-./:@_="

// quoted is an argument as a POSIX shell reads it: within single quotes all but a
// single quote stands for itself.
func quoted(arg string) string {
	if arg != "" && strings.Trim(arg, plainChars) == "" {
		return arg
	}
	return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
}
