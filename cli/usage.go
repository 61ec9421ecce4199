package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
	"github.com/rehearse-dev/rehearse/internal/suggest"
)

// exitError ends the program with a code. A nil err means that everything has been printed.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// usage gives an error the exit code of usage.
func usage(err error) error { return &exitError{exitUsage, err} }

// noVerdict gives an error the exit code for a missing verdict, unless it has one.
func noVerdict(err error) error {
	if known, ok := errors.AsType[*exitError](err); ok {
		return known // such as a mistake in usage that was found late
	}
	return &exitError{exitNoVerdict, err}
}

// quiet returns an error with an exit code and no message.
func quiet(code int) error {
	if code == exitPass {
		return nil
	}
	return &exitError{code, nil}
}

// notAmong returns the usage error that word is not one of the choices.
func notAmong(what, word string, choices []string) error {
	return usage(suggest.NotAmong(what, word, choices))
}

// arguments checks the number of arguments; want describes them.
func arguments(least, most int, want string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if least <= len(args) && len(args) <= most {
			return nil
		}
		return usage(fmt.Errorf("%s; got %s; see %s --help", want, format.Plural(len(args), "argument"), cmd.CommandPath()))
	}
}

// unknownCommand rejects words that are not subcommands.
func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, sub := range cmd.Commands() {
		names = append(names, sub.Name())
	}
	return usage(fmt.Errorf("there is no command %q%s; see %s --help", args[0], suggest.Hint(args[0], names), cmd.CommandPath()))
}

// exclusive matches cobra's error for flags that exclude each other, and captures the given ones.
var exclusive = lazyregexp.New(`^if any flags in the group .*; \[(.+)\] were all set$`)

// plainFlagError rewords cobra's error for flags that exclude each other.
func plainFlagError(err error) error {
	given := exclusive().FindStringSubmatch(err.Error())
	if given == nil {
		return err
	}
	return fmt.Errorf("--%s exclude each other", strings.Join(strings.Fields(given[1]), " and --"))
}

// badFlag explains an error in the flags of a command.
func badFlag(cmd *cobra.Command, err error) error {
	hint := ""
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok && unknown.GetSpecifiedShortnames() == "" {
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
		hint = suggest.Hint("--"+unknown.GetSpecifiedName(), names)
	}
	if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		if number, ok := errors.AsType[*strconv.NumError](err); ok {
			err = fmt.Errorf("--%s %q: it must be a number: %w", invalid.GetFlag().Name, invalid.GetValue(), number.Err)
		} else if cause := invalid.Unwrap(); cause != nil && strings.HasPrefix(cause.Error(), "time: ") { // from package time
			err = fmt.Errorf("--%s %q: it must be a duration with a unit, such as 5s, 10m or 1h30m", invalid.GetFlag().Name, invalid.GetValue())
		}
	}
	return usage(fmt.Errorf("%w%s; see %s --help", err, hint, cmd.CommandPath()))
}
