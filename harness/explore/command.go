package explore

import (
	"strings"

	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// Command returns the command line that repeats a perturbed run of a scenario.
func Command(sc *scenarios.Scenario, perturb []string) string {
	words := []string{"rehearse", "run", argument(sc)}
	for _, text := range perturb {
		words = append(words, "--perturb", text)
	}
	return format.ShellLine(words...)
}

// shippedPrefix begins the file names of shipped scenarios.
const shippedPrefix = "shipped:"

// argument returns the scenario's argument on the command line.
func argument(sc *scenarios.Scenario) string {
	switch {
	case sc.File == "" || strings.HasPrefix(sc.File, shippedPrefix):
		return sc.Name
	case strings.HasPrefix(sc.File, "-"):
		return "./" + sc.File
	}
	return sc.File
}
