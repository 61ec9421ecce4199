package scenarios

import (
	"io/fs"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/rehearse-dev/rehearse/internal/suggest"
	"github.com/rehearse-dev/rehearse/scenarios/perturb"
)

// Kind describes a kind of agent to the reader of scenario files.
type Kind struct {
	// Name is the kind's key under drive, such as "loop".
	Name string
	// Title names such an agent in messages, such as "the loop".
	Title string
	// Options returns a pointer to the zero value of the kind's options, a strictly decoded
	// struct.
	Options func() any
	// Statuses are the possible end statuses of a trial.
	Statuses []string
	// External marks an agent that is not part of this module. It is driven against scripted
	// backends only.
	External bool
	// MCP has the transports (mcp.HTTP, mcp.Stdio) by which the agent can reach scripted MCP servers; none if
	// it has no use for them.
	MCP []string
	// Writes marks an agent that stores its state, whose writes can be perturbed.
	Writes bool

	// Complete, if set, adds what the options name to a scenario, such as the replies of a
	// persona, before it is checked. Added texts are part of the digest.
	Complete func(c *Checker, opts any, sc *Scenario)
	// Check, if set, reports problems of the options.
	Check func(c *Checker, opts any)
	// CheckTurn returns an error if a perturbation of a turn is impossible. Nil means that the
	// agent has no turns.
	CheckTurn func(opts any, p perturb.Perturbation) error
	// Relocate, if set, returns the options that change in a copy of the scenario's file in
	// another folder, so that paths relative to the file's folder stay valid, by their path below
	// the kind's key. back is the path from the new folder to the old one, with slashes.
	Relocate func(opts any, back string) map[string]any
}

// Drive is the agent under test.
type Drive struct {
	// Kind is the name of the agent's kind; empty if the file names none or several.
	Kind string `yaml:"-" json:"-"`
	// Options are the decoded options returned by Kind.Options.
	Options any `yaml:"-" json:"-"`
}

// UnmarshalYAML does nothing: Parse decodes the options of the kind.
func (*Drive) UnmarshalYAML(*yaml.Node) error { return nil }

// DriveType returns the type of the mapping under drive: a struct with a pointer to the options of
// each kind, in order.
func DriveType(kinds []Kind) reflect.Type {
	fields := make([]reflect.StructField, len(kinds))
	for i, k := range kinds {
		tag := strconv.Quote(k.Name + ",omitempty")
		fields[i] = reflect.StructField{
			Name: "Kind" + strconv.Itoa(i), Type: reflect.TypeOf(k.Options()),
			Tag: reflect.StructTag("yaml:" + tag + " json:" + tag),
		}
	}
	return reflect.StructOf(fields)
}

// decodeDrive decodes the options of the agent's kind.
func (c *Checker) decodeDrive(d *Drive) Diagnostics {
	if c.opts.driveType == nil {
		c.opts.driveType = DriveType(c.opts.Kinds)
	}
	given := reflect.New(c.opts.driveType)
	found := c.doc.Decode("drive", given.Interface())
	for i, k := range c.opts.Kinds {
		if options := given.Elem().Field(i); !options.IsNil() {
			c.driven = append(c.driven, k)
			*d = Drive{Kind: k.Name, Options: options.Interface()}
		}
	}
	if len(c.driven) != 1 {
		*d = Drive{}
	}
	return found
}

// kind returns the kind of the agent under test; the zero Kind unless there is exactly one.
func (c *Checker) kind() Kind {
	if len(c.driven) != 1 {
		return Kind{}
	}
	return c.driven[0]
}

// checkDrive checks the agent's options, and that it can end as expected.
func (c *Checker) checkDrive(sc *Scenario) {
	switch len(c.driven) {
	case 0:
		c.Add("drive", "", `the scenario drives no agent; write an agent, such as "loop: {prompt: ...}"`)
		return
	case 1:
	default:
		names := make([]string, len(c.driven))
		for i, k := range c.driven {
			names[i] = k.Name
		}
		c.Add("drive", "", "the scenario drives several agents: %s; a scenario drives exactly one", strings.Join(names, ", "))
		return
	}
	k := c.kind()
	if k.Check != nil {
		k.Check(c, sc.Drive.Options)
	}
	if status := sc.Expect.Status; status != "" && !slices.Contains(k.Statuses, status) {
		c.Add("expect.status", suggest.Nearest(status, k.Statuses), "%s never ends with status %q; choose from %s",
			k.Title, status, strings.Join(k.Statuses, ", "))
	}
}

// Has reports whether the file has a value at a path, such as "drive.loop.timeout".
func (c *Checker) Has(path string) bool { return c.doc.Has(path) }

// Program adds a file of the agent's program to Scenario.Files, if it is in the folder of the scenario or in Options.Project.
// name is its path from the former. It is not part of the digest: an agent may change while its scenarios stay the same.
func (c *Checker) Program(name string) {
	name = path.Clean(name)
	folder, inFolder := c.fsys, name
	if strings.HasPrefix(name, "../") {
		folder, inFolder = c.opts.Project, path.Join(path.Dir(c.file), name)
	}
	if folder == nil || c.sum == nil || !fs.ValidPath(inFolder) || c.sum.files[name] != "" {
		return
	}
	if info, err := fs.Stat(folder, inFolder); err != nil || !info.Mode().IsRegular() || info.Size() > maxProgram {
		return
	}
	if content, err := fs.ReadFile(folder, inFolder); err == nil {
		c.sum.named(name, content)
	}
}

// maxProgram limits the size of a program whose hash is recorded.
const maxProgram = 64 << 20

// Digest adds a text that the scenario refers to to its digest.
func (c *Checker) Digest(text []byte) { c.sum.part(text) }
