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

	"github.com/rehearse-dev/rehearse/harness/incident"
	"github.com/rehearse-dev/rehearse/internal/atomicdir"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/input"
	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/internal/suggest"
	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
	"github.com/rehearse-dev/rehearse/llm/price"
	"github.com/rehearse-dev/rehearse/mocks/capture"
	"github.com/rehearse-dev/rehearse/redact"
	"github.com/rehearse-dev/rehearse/reports/rundir"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// notInName are the characters that the name of a scenario does not have.
var notInName = lazyregexp.New(`[^a-z0-9._/-]+`)

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
recordings of rehearse run, by their files or the folder of the run. Each conversation becomes a file.
Secrets are replaced.

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
	f.StringVar(&flags.trace, "trace", "",
		"only the conversations with this `id` (of a conversation, a trace, a session, a trial), or with its beginning or end")
	f.StringVar(&flags.drive, "drive", "", "how the agent is driven, in `YAML`: the mapping below drive: of a scenario")
	f.StringVar(&flags.driveFile, "drive-file", "", "a `file` with that mapping")
	f.StringVar(&flags.match, "match", "",
		"how the script recognises a request: by its text, its turn alone, or its position "+
			"(default: text; sessions of coding agents have only order)")
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
	if f.name != "" {
		if err := scenarios.CheckName(f.name); err != nil {
			near := strings.Trim(notInName().ReplaceAllString(strings.ToLower(f.name), "-"), "-./")
			return o, fmt.Errorf("--name: %w%s", err, suggest.Hint(f.name, []string{near}))
		}
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
		data, err := input.ReadFile("drive of a scenario", f.driveFile, yamlsrc.MaxBytes)
		if err != nil {
			return o, err
		}
		return o, readDrive("--drive-file "+f.driveFile, data, &o)
	}
	return o, nil
}

// readDrive reads the mapping below drive.
func readDrive(from string, data []byte, o *incident.Options) error {
	var kinds map[string]map[string]any
	if _, found := yamlsrc.Decode(from, data, &kinds); len(found) > 0 {
		return found
	}
	if len(kinds) != 1 {
		return fmt.Errorf("%s must be a mapping with one kind of agent, such as command: {run: [python3, agent.py]}", from)
	}
	o.Drive = map[string]any{}
	for kind, options := range kinds {
		o.Drive[kind] = options
	}
	return nil
}

func (a *app) importFiles(args []string, flags importFlags) error {
	table, err := priceTable(flags.prices)
	if err != nil {
		return usage(err)
	}
	options, err := flags.options(table)
	if err != nil {
		return usage(err)
	}
	files, err := runFiles(args)
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
	if flags.trace != "" && len(conversations) > 0 {
		var note string
		conversations, note, err = incident.Select(conversations, flags.trace)
		if err != nil {
			return usage(fmt.Errorf("--trace %s: %w", sanitize.Line(flags.trace, 80), err))
		}
		if note != "" {
			fmt.Fprintf(a.stderr, "--trace %s\n", note)
		}
	}
	if err := incident.CheckMatch(conversations, options.Match); err != nil {
		return usage(fmt.Errorf("--match %s: %w", flags.match, err))
	}
	written, failed := a.imported(conversations, flags.name, options)
	if err := a.checkImported(written, &flags, options.Drive != nil, table); err != nil {
		return usage(err)
	}
	incomplete := failed != exitPass || len(findings) > 0
	for i := range written {
		if err := a.writeImported(flags.out, &written[i], table); err != nil {
			return err
		}
		incomplete = incomplete || written[i].Incomplete
	}
	a.printNotes(flags.out, written)
	if len(written) == 0 {
		fmt.Fprintln(a.stderr, nothingWritten(failed))
	}
	if incomplete || len(written) == 0 {
		return quiet(max(exitFail, failed))
	}
	return nil
}

// runFiles returns files, with the recordings of folders in place of these.
func runFiles(args []string) ([]string, error) {
	files := slices.Clone(args)
	for i, name := range args {
		if info, err := os.Stat(name); err == nil && info.IsDir() {
			if files[i], err = rundir.FindRecording(name); err != nil {
				return nil, fmt.Errorf("import %s: %w", name, err)
			}
		}
	}
	return files, nil
}

// nothingWritten explains that there is no scenario.
func nothingWritten(failed int) string {
	if failed == exitNoVerdict {
		return "no scenario was written"
	}
	return "the files have nothing that a scenario can repeat; no scenario was written"
}

// imported returns the scenarios of conversations. Those without one are printed; failed is the exit code for
// them: exitFail if they have nothing to repeat, exitNoVerdict if a scenario cannot be written, else exitPass.
func (a *app) imported(conversations []incident.Conversation, name string, options incident.Options) (
	all []incident.Scenario, failed int,
) {
	taken := map[string]bool{}
	for _, c := range conversations {
		one := options
		one.Name = cmp.Or(name, incident.NameOf(&c))
		for n := 2; taken[one.Name]; n++ {
			one.Name = fmt.Sprintf("%s-%d", cmp.Or(name, incident.NameOf(&c)), n)
		}
		taken[one.Name] = true
		sc, err := incident.Write(c, one)
		if err != nil {
			if none, ok := errors.AsType[*incident.NoAnswerError](err); ok {
				fmt.Fprintln(a.stderr, none)
				failed = max(failed, exitFail)
				continue
			}
			fmt.Fprintln(a.stderr, sanitize.Line(err.Error(), 500))
			failed = exitNoVerdict
			continue
		}
		all = append(all, sc)
	}
	return all, failed
}

// importedFile returns the file of a scenario.
func importedFile(folder string, sc *incident.Scenario) string {
	return filepath.Join(folder, path.Base(sc.Name)+".yaml")
}

// checkImported returns an error if a file exists already, or if the given drive has mistakes.
func (a *app) checkImported(all []incident.Scenario, flags *importFlags, driven bool, table *price.Table) error {
	for i := range all {
		if file := importedFile(flags.out, &all[i]); exists(file) {
			return fmt.Errorf("%s exists; choose another name with --name or another folder with --out", file)
		}
	}
	if !driven || len(all) == 0 {
		return nil
	}
	from := "--drive"
	if flags.driveFile != "" {
		from += "-file " + flags.driveFile
	}
	_, problems := scenarios.Parse(from, all[0].Text, os.DirFS(flags.out), a.scenarioOptions(table))
	var wrong scenarios.Diagnostics
	for _, p := range problems {
		if (p.Path == "drive" || strings.HasPrefix(p.Path, "drive.")) && !strings.HasSuffix(p.Path, ".turns") { // these are imported
			wrong = append(wrong, yamlsrc.Diagnostic{File: from, Path: p.Path, Message: p.Message, Expected: p.Expected, Nearest: p.Nearest})
		}
	}
	return wrong.Err()
}

func exists(file string) bool {
	_, err := os.Lstat(file)
	return err == nil
}

// printNotes prints the notes of the scenarios, each once.
func (a *app) printNotes(folder string, all []incident.Scenario) {
	files := map[string][]string{}
	var order []string
	for i := range all {
		for _, note := range all[i].Notes {
			if files[note] == nil {
				order = append(order, note)
			}
			files[note] = append(files[note], importedFile(folder, &all[i]))
		}
	}
	for _, note := range order {
		at := files[note][0]
		if more := len(files[note]) - 1; more > 0 {
			at += fmt.Sprintf(" and %s", format.Plural(more, "more file"))
		}
		fmt.Fprintf(a.stderr, "%s: %s\n", at, sanitize.Line(note, 500))
	}
}

// writeImported writes a scenario, and prints what is still missing.
func (a *app) writeImported(folder string, sc *incident.Scenario, table *price.Table) error {
	file := importedFile(folder, sc)
	err := os.MkdirAll(folder, 0o777)
	if err == nil {
		err = atomicdir.Replace(file, sc.Text)
	}
	if err != nil {
		return noVerdict(fmt.Errorf("write the scenario %s: %w", file, err))
	}
	fmt.Fprintln(a.stdout, file)
	_, problems := scenarios.Parse(file, sc.Text, os.DirFS(folder), a.scenarioOptions(table))
	for _, p := range problems {
		fmt.Fprintf(a.stderr, "to do: %s\n", p.Error())
	}
	return nil
}
