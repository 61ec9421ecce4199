// Command figures writes the figures of the documentation, each between two marks of a page:
//
//	figures measure [-only REGEXP] [-runs N] PAGE...   run the benchmarks of the rows, store the results beside the page, render
//	figures render PAGE...                             write the tables from the stored results
//	figures repeat REGEXP PAGE...                      simulate again, and fail if a rate differs from the stored one
//	figures explore [-write] FOLDER...                 compare, or replace, the table of explorations
//
// Results are stored in the format of Go benchmarks (PAGE.txt for PAGE.md), which benchstat reads.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "figures:", err)
		stop()
		os.Exit(1) //nolint:gocritic // stop was called
	}
}

func run(ctx context.Context, args []string, progress io.Writer) error {
	if len(args) == 0 {
		return errors.New("name one of measure, render, repeat and explore")
	}
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	only := flags.String("only", "", "measure only the rows whose benchmark matches this `regexp`, and keep the others")
	runs := flags.Int("runs", 6, "how often each benchmark is run; fewer than 6 give no 95 % interval")
	page := flags.String("page", "docs/how-to/explore.md", "the page with the table of explorations")
	write := flags.Bool("write", false, "replace the table of explorations")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	rest := flags.Args()
	switch args[0] {
	case "explore":
		return explorations(*page, *write, rest)
	case "render":
		return renderAll(rest)
	case "repeat":
		if len(rest) < 2 {
			return errors.New("repeat needs a regular expression and pages")
		}
		*only, rest, *runs = rest[0], rest[1:], 1
	case "measure":
	default:
		return fmt.Errorf("%q is not one of measure, render, repeat and explore", args[0])
	}
	pattern, err := regexp.Compile(*only)
	if err != nil {
		return fmt.Errorf("select benchmarks: %w", err)
	}
	s, err := newSession(ctx, pattern, *runs, progress)
	if err != nil {
		return err
	}
	defer s.close()
	if args[0] == "repeat" {
		return repeatAll(ctx, rest, s)
	}
	return measureAll(ctx, rest, s)
}
