package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rehearse-dev/rehearse/agents/interview/prompt"
	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/fixtures"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
)

// contentFlags choose what interviews are about, and the prompts.
type contentFlags struct {
	jobs    []string
	prompts string
}

func (c *contentFlags) register(f *pflag.FlagSet) {
	f.StringArrayVar(&c.jobs, "job", nil,
		"file with a job; repeat it for several jobs, or for one job in two languages (default: a sales job)")
	f.StringVar(&c.prompts, "prompts", "", `folder with prompts; "rehearse interview prompts" writes the shipped ones`)
}

// content is what interviews are about, and the prompts of each language.
type content struct {
	jobs    []session.Job
	files   []string // of the jobs; empty for the shipped ones
	prompts []*prompt.Set
}

// load reads and checks the files of the flags. Its error has all problems.
func (c *contentFlags) load(count func(model, text string) int, model string) (content, error) {
	var found yamlsrc.Diagnostics
	all := content{jobs: prompt.ShippedJobs()}
	if len(c.jobs) > 0 {
		all.jobs = nil
	}
	tokens := func(text string) int { return count(model, text) }
	if c.prompts != "" {
		root, err := os.OpenRoot(c.prompts)
		if err != nil {
			return all, fmt.Errorf("open the folder of --prompts: %w", err)
		}
		defer func() { _ = root.Close() }()
		all.prompts, err = prompt.Open(root.FS(), filepath.ToSlash(filepath.Clean(c.prompts)), tokens)
		if found, err = withDiagnostics(found, err); err != nil {
			return all, err
		}
	}
	for _, l := range session.Languages() {
		if !slices.ContainsFunc(all.prompts, func(s *prompt.Set) bool { return s.Language == l }) {
			shipped, err := prompt.Load(l)
			if err != nil {
				return all, err
			}
			all.prompts = append(all.prompts, shipped)
		}
	}
	for _, file := range c.jobs {
		data, err := os.ReadFile(file)
		if err != nil {
			return all, fmt.Errorf("read the job: %w", err)
		}
		j, err := prompt.ParseJob(filepath.ToSlash(file), data)
		if err == nil {
			err = all.checkJob(j, filepath.ToSlash(file), tokens)
		}
		if found, err = withDiagnostics(found, err); err != nil {
			return all, err
		}
		all.jobs, all.files = append(all.jobs, j), append(all.files, file)
	}
	return all, found.Err()
}

// checkJob checks a job against the earlier ones and the prompts of its language.
func (c *content) checkJob(j session.Job, file string, count func(text string) int) error {
	for i, other := range c.jobs {
		if other.ID == j.ID && other.Language == j.Language {
			return fmt.Errorf("%s and %s both describe the job %q in the language %s; give one of them another id",
				c.files[i], file, j.ID, j.Language)
		}
	}
	return c.in(j.Language).CheckJob(j, file, count)
}

// in returns the prompts of a language.
func (c *content) in(l session.Language) *prompt.Set {
	return c.prompts[slices.IndexFunc(c.prompts, func(s *prompt.Set) bool { return s.Language == l })]
}

func (a *app) interviewCheckCommand() *cobra.Command {
	var flags contentFlags
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Check jobs and prompts, and print their versions and sizes",
		Long: `check reads the files of --job and --prompts as serve and take do, and reports each problem with its
position. A job that mentions what an interview leaves alone ("young and dynamic", "no children") is a
warning with its position. For each job it prints the version and hash of the prompts that interviews about it use,
and the size of the largest call, in tokens. Without flags it checks what is shipped.

Exit codes: 0 no problem was found, 2 a problem was found.`,
		Example: `  rehearse interview check --job nurse.yaml
  rehearse interview check --job nurse.fr.yaml --job nurse.en.yaml --prompts prompts`,
		Args: arguments(0, 0, "check takes no arguments"),
		RunE: func(*cobra.Command, []string) error {
			count := newCounter()
			all, err := flags.load(count, interviewModel)
			if err != nil {
				return usage(err)
			}
			if err := a.warnOfJobs(flags.jobs); err != nil {
				return usage(err)
			}
			for _, j := range all.jobs {
				prompts := all.in(j.Language).For(j)
				most := 0
				for _, size := range prompts.Sizes(func(text string) int { return count(interviewModel, text) }) {
					most = max(most, size.Frame+size.Task+size.Job)
				}
				fmt.Fprintf(a.stdout, "job %s (%s, %s): prompts %s, largest call %s\n",
					j.ID, j.Language, j.Title, prompts, format.Plural(most, "token"))
			}
			return nil
		},
	}
	flags.register(cmd.Flags())
	return cmd
}

// warnOfJobs prints what the files of jobs should not mention.
func (a *app) warnOfJobs(files []string) error {
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("read the job: %w", err)
		}
		for _, w := range prompt.JobWarnings(filepath.ToSlash(file), data) {
			fmt.Fprintln(a.stderr, "warning:", w.Error())
		}
	}
	return nil
}

func (a *app) interviewPromptsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "prompts DIR",
		Short: "Write the shipped prompts and jobs to a folder, as a start for other ones",
		Long: `prompts writes the shipped prompts to DIR/fr and DIR/en, and the shipped job to DIR/jobs. DIR must
not exist, or be empty. Change the texts and the version in manifest.yaml, then use the folder with
--prompts. A language whose folder is removed keeps the shipped prompts.

Exit codes: 0 written, 2 usage, or DIR is not empty, 3 the files could not be written.`,
		Example: `  rehearse interview prompts my-prompts
  rehearse interview check --prompts my-prompts
  rehearse interview serve --script lea --prompts my-prompts`,
		Args: arguments(1, 1, "name one folder"),
		RunE: func(_ *cobra.Command, args []string) error {
			dir := args[0]
			switch entries, err := os.ReadDir(dir); {
			case err == nil && len(entries) > 0:
				return usage(fmt.Errorf("write the prompts: %s is not empty", dir))
			case err != nil && !errors.Is(err, fs.ErrNotExist):
				return usage(fmt.Errorf("write the prompts: %w", err))
			}
			prompts, err := fs.Sub(fixtures.Prompts, "prompts")
			if err != nil {
				return noVerdict(err)
			}
			for _, files := range []fs.FS{prompts, fixtures.Jobs} {
				if err := os.CopyFS(dir, files); err != nil {
					return noVerdict(fmt.Errorf("write the prompts: %w", err))
				}
			}
			fmt.Fprintf(a.stdout, "%s\n", dir)
			return nil
		},
	}
}
