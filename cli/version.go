package cli

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/harness/record"
)

// version is set by the linker (see the Makefile); the default is the version of the module.
var version string

func toolVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}

func (a *app) versionCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version of the program and of its file formats",
		Example: "  rehearse version --json",
		Args:    arguments(0, 0, "version takes no arguments"),
		RunE: func(*cobra.Command, []string) error {
			facts := struct {
				Version   string `json:"version"`
				Go        string `json:"go"`
				Platform  string `json:"platform"`
				Recording string `json:"recording"`
			}{toolVersion(), runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH, record.Schema}
			if asJSON {
				return json.NewEncoder(a.stdout).Encode(facts)
			}
			_, err := fmt.Fprintf(a.stdout, "rehearse %s (%s, %s); writes %s\n",
				facts.Version, facts.Go, facts.Platform, facts.Recording)
			return err
		},
	}
	jsonFlag(cmd.Flags(), &asJSON, "the version")
	return cmd
}
