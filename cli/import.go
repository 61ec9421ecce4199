package cli

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v4"

	"github.com/rehearse-dev/rehearse/harness/incident"
	"github.com/rehearse-dev/rehearse/internal/atomicdir"
	"github.com/rehearse-dev/rehearse/internal/input"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
	"github.com/rehearse-dev/rehearse/llm/price"
	"github.com/rehearse-dev/rehearse/mocks/capture"
	"github.com/rehearse-dev/rehearse/redact"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// importFlags are the flags of import.
type importFlags struct {
	out       string
	name      string
	format    string
	trace     string
	drive     string
	driveFile string
	match     string
	prices    string
}

func (a *app) importCommand() *cobra.Command {
	var flags importFlags
	cmd := &cobra.Command{
		Use:   "import FILE...",
		Short: "Write a scenario from a trace, a session or a recording",
		Long: `import reads what is left of an agent's run and writes a scenario that repeats it: the answers of
the model as a script, and expectations. It reads OpenTelemetry spans of generative AI (JSON of
OTLP), sessions of Claude Code and Codex, observations of Langfuse, results of promptfoo, and
recordings of rehearse run. Each conversation becomes a file. Secrets are replaced.

What a file does not contain is left out, and noted in the scenario and on standard error. A trace
does not reveal how an agent is started: set it with --drive or --drive-file, or write it into
the file; rehearse check reports it until then.

Exit codes: 0 everything was written; 1 parts are missing or nothing was written; 2 usage, or a file
that cannot be read; 3 a scenario could not be written.`,
		Example: `  rehearse import trace.json --drive 'command: {run: [python3, "{here}/../agent.py"]}'
  rehearse import ~/.claude/projects/my-project/*.jsonl --out scenarios/incidents
  rehearse import spans.jsonl logs.jsonl --trace 4bf92f35 --name checkout-hangs`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage(errors.New("name the files to import; see rehearse import --help"))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return a.importFiles(args, flags) },
	}
	f := cmd.Flags()
	f.StringVarP(&flags.out, "out", "o", scenarios.OwnFolder, "folder to write to")
	f.StringVar(&flags.name, "name", "", "name of the scenario; of several, all but the first get a number")
	f.StringVar(&flags.format, "from", string(incident.Auto), "format of the files")
	f.StringVar(&flags.trace, "trace", "", "only the conversation with this `id` (a trace, a session, a trial), or its beginning or end")
	f.StringVar(&flags.drive, "drive", "", "how the agent is driven, in `YAML`: the mapping below drive: of a scenario")
	f.StringVar(&flags.driveFile, "drive-file", "", "a `file` with that mapping")
	f.StringVar(&flags.match, "match", "",
		"how the script recognises a request: by its text, its turn alone, or its position "+
			"(default: text, but order for coding agents)")
	pricesFlag(f, &flags.prices)
	complete(cmd, "from", namesOf(incident.Formats())...)
	complete(cmd, "match", namesOf(capture.Matchings())...)
	cmd.ValidArgsFunction = completeFiles("json", "jsonl")
	return cmd
}

// options returns the options of the writer, or an error of usage.
func (f *importFlags) options(table *price.Table) (incident.Options, error) {
	o := incident.Options{
		Match: capture.Matching(f.match), Version: toolVersion(), Redactor: redact.New(redact.SecretsIn(os.Environ())),
		Priced: func(model string) bool { _, ok := table.Quote(model); return ok },
	}
	switch {
	case !slices.Contains(namesOf(incident.Formats()), f.format):
		return o, notAmong("format", f.format, namesOf(incident.Formats()))
	case f.match != "" && !slices.Contains(namesOf(capture.Matchings()), f.match):
		return o, notAmong("way to match", f.match, namesOf(capture.Matchings()))
	case f.drive != "" && f.driveFile != "":
		return o, errors.New("--drive and --drive-file contradict each other; give one")
	case f.drive != "":
		return o, readDrive("--drive", []byte(f.drive), &o)
	case f.driveFile != "":
		data, err := input.ReadFile("the drive of a scenario", f.driveFile, yamlsrc.MaxBytes)
		if err != nil {
			return o, err
		}
		return o, readDrive("--drive-file "+f.driveFile, data, &o)
	}
	return o, nil
}

// readDrive reads the mapping below drive.
func readDrive(from string, data []byte, o *incident.Options) error {
	if err := yaml.Load(data, &o.Drive); err != nil {
		return fmt.Errorf("%s is not valid YAML: %w", from, err)
	}
	if len(o.Drive) != 1 {
		return fmt.Errorf("%s must be a mapping with one kind of agent, such as command: {run: [python3, agent.py]}", from)
	}
	return nil
}

func (a *app) importFiles(files []string, flags importFlags) error {
	table, err := priceTable(flags.prices)
	if err != nil {
		return usage(err)
	}
	options, err := flags.options(table)
	if err != nil {
		return usage(err)
	}
	conversations, findings, err := incident.Read(files, incident.Format(flags.format))
	for _, f := range findings {
		fmt.Fprintln(a.stderr, f)
	}
	if err != nil {
		return usage(err)
	}
	if flags.trace != "" {
		conversations = slices.DeleteFunc(conversations, func(c incident.Conversation) bool {
			return !strings.HasPrefix(c.ID, flags.trace) && !strings.HasSuffix(c.ID, flags.trace)
		})
		if len(conversations) == 0 {
			return usage(fmt.Errorf("--trace %s: the files have no such conversation", flags.trace))
		}
	}
	written, incomplete := 0, len(findings) > 0
	taken := map[string]int{}
	for _, c := range conversations {
		one := options
		one.Name = cmp.Or(flags.name, incident.NameOf(&c))
		if taken[one.Name]++; taken[one.Name] > 1 {
			one.Name = fmt.Sprintf("%s-%d", one.Name, taken[one.Name])
		}
		sc, err := incident.Write(c, one)
		if err != nil {
			fmt.Fprintln(a.stderr, sanitize.Line(err.Error(), 500))
			incomplete = true
			continue
		}
		if err := a.writeImported(flags.out, &sc, table); err != nil {
			return err
		}
		written++
		incomplete = incomplete || sc.Incomplete
	}
	if written == 0 {
		fmt.Fprintln(a.stderr, "the files have nothing that a scenario can repeat; no scenario was written")
	}
	if incomplete || written == 0 {
		return quiet(exitFail)
	}
	return nil
}

// writeImported writes a scenario, and prints its notes and what is still missing.
func (a *app) writeImported(folder string, sc *incident.Scenario, table *price.Table) error {
	file := filepath.Join(folder, path.Base(sc.Name)+".yaml")
	if _, err := os.Lstat(file); err == nil {
		return usage(fmt.Errorf("%s exists; choose another name with --name or another folder with --out", file))
	}
	err := os.MkdirAll(folder, 0o777)
	if err == nil {
		err = atomicdir.Replace(file, sc.Text)
	}
	if err != nil {
		return noVerdict(fmt.Errorf("write the scenario %s: %w", file, err))
	}
	fmt.Fprintln(a.stdout, file)
	for _, note := range sc.Notes {
		fmt.Fprintf(a.stderr, "%s: %s\n", file, sanitize.Line(note, 500))
	}
	_, problems := scenarios.Parse(file, sc.Text, os.DirFS(folder), a.scenarioOptions(table))
	for _, p := range problems {
		fmt.Fprintf(a.stderr, "to do: %s\n", p.Error())
	}
	return nil
}
