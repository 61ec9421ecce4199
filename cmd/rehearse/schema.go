package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/internal/suggest"
	"github.com/rehearse-dev/rehearse/schema"
)

func (a *app) schemaCommand() *cobra.Command {
	kinds := schema.Kinds()
	return &cobra.Command{
		Use:   "schema [" + strings.Join(kinds, "|") + "]",
		Short: "Print the JSON Schema of a file format",
		Long: `schema prints the JSON Schema of scenario files (the default), of the scripts that
"rehearse mock" serves, or of the configuration file rehearse.yaml. Editors complete and check a file
whose first line is
  # yaml-language-server: $schema=scenario.json`,
		Example:   "  rehearse schema > scenario.json",
		Args:      cobra.MaximumNArgs(1),
		ValidArgs: kinds,
		RunE: func(_ *cobra.Command, args []string) error {
			kind := kinds[0]
			if len(args) == 1 {
				kind = args[0]
			}
			if !slices.Contains(kinds, kind) {
				return usage(fmt.Errorf("there is no schema %q (did you mean %q?); choose one of %s",
					kind, cmp.Or(suggest.Nearest(kind, kinds), kinds[0]), strings.Join(kinds, ", ")))
			}
			_, err := a.stdout.Write(schema.Of(kind))
			return err
		},
	}
}
