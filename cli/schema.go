package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/schema"
)

func (a *app) schemaCommand() *cobra.Command {
	kinds := schema.Kinds()
	return &cobra.Command{
		Use:   "schema [" + strings.Join(kinds, "|") + "]",
		Short: "Print the JSON Schema of a file format",
		Long: `schema prints the JSON Schema of scenario files (the default), of the scripts that
"rehearse mock" serves, of the configuration file rehearse.yaml, of the plans of
"rehearse supervise", or of the front matter of agent files. Editors complete and check
a file whose first line is
  # yaml-language-server: $schema=scenario.json

Exit codes: 0 printed, 2 usage.`,
		Example:   "  rehearse schema > scenario.json\n  rehearse schema plan > plan.json",
		Args:      arguments(0, 1, "name one kind of file"),
		ValidArgs: kinds,
		RunE: func(_ *cobra.Command, args []string) error {
			kind := kinds[0]
			if len(args) == 1 {
				kind = args[0]
			}
			if !slices.Contains(kinds, kind) {
				return notAmong("schema", kind, kinds)
			}
			text := schema.Of(kind)
			if kind == "scenario" {
				var err error
				if text, err = scenarios.ExtendSchema(text, a.kinds.Formats()); err != nil {
					return noVerdict(err)
				}
			}
			_, err := a.stdout.Write(text)
			return err
		},
	}
}
