package scenarios

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/rehearse-dev/rehearse/internal/suggest"
	"github.com/rehearse-dev/rehearse/scenarios/perturb"
)

// Kind is what scenario files need to know of one kind of agent.
type Kind struct {
	// Name is the kind's key under drive, such as "loop".
	Name string
	// Title is what messages call such an agent, such as "the loop".
	Title string
	// Options returns a pointer to the zero value of the kind's options, a struct that
	// is decoded strictly.
	Options func() any
	// Statuses are those that a trial can end with.
	Statuses []string
	// External is true of an agent that is not part of this module. It is driven against
	// scripted backends only.
	External bool
	// Writes is true of an agent that stores its state, so that a write can be perturbed.
	Writes bool

	// Complete, if given, adds to a scenario what its options name, such as the replies
	// of a persona, before anything is checked. Texts that it adds go into the digest.
	Complete func(c *Checker, opts any, sc *Scenario)
	// Check, if given, reports what is wrong with the options.
	Check func(c *Checker, opts any)
	// CheckTurn says why a perturbation of a turn is impossible. Nil: nobody takes turns
	// with such an agent.
	CheckTurn func(opts any, p perturb.Perturbation) error
	// Relocate, if given, returns the options that a copy of the scenario's file in another
	// folder needs so that what is relative to the file's folder stays the same, by their
	// path below the kind's key. Back is the path from the new folder to the old one, with
	// slashes.
	Relocate func(opts any, back string) map[string]any
}

// Drive is the agent under test.
type Drive struct {
	// Kind is the name of the agent's kind; empty where the file names none or several.
	Kind string `yaml:"-" json:"-"`
	// Options are those that Kind.Options returned, decoded.
	Options any `yaml:"-" json:"-"`
}

// UnmarshalYAML leaves the value to the options of the kind that it names; see Parse.
func (*Drive) UnmarshalYAML(*yaml.Node) error { return nil }

// DriveType returns the type of the mapping under drive: a struct with a pointer to the
// options of each kind, in their order.
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

// decodeDrive reads what is driven with the options of its kind.
func (c *Checker) decodeDrive(d *Drive) Diagnostics {
	given := reflect.New(DriveType(c.opts.Kinds))
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

// kind is that of the agent under test; the zero Kind where there is not exactly one.
func (c *Checker) kind() Kind {
	if len(c.driven) != 1 {
		return Kind{}
	}
	return c.driven[0]
}

// checkDrive checks what is driven, and that it can end as the scenario expects.
func (c *Checker) checkDrive(sc *Scenario) {
	switch len(c.driven) {
	case 0:
		c.Add("drive", "", `the scenario drives no agent; write what is driven, such as "loop: {prompt: ...}"`)
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
		c.Add("expect.status", suggest.Nearest(status, k.Statuses), "%s never ends with status %q; there are %s", k.Title, status, strings.Join(k.Statuses, ", "))
	}
}

// Has reports whether the file has a value at a path, such as "drive.loop.timeout".
func (c *Checker) Has(path string) bool { return c.doc.Has(path) }

// Digest adds a text that the scenario names, and does not hold, to its digest.
func (c *Checker) Digest(text []byte) { hashPart(c.sum, text) }
