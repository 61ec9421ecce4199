package scenarios

import (
	"fmt"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/jsonpath"
)

// checkCommand checks how a program is spoken to, and returns how that can end.
func (c *checker) checkCommand(d *CommandDrive) []string {
	const at = "drive.command"
	if len(d.Run) == 0 || d.Run[0] == "" {
		c.add(at+".run", "", "there is no program; write run: [program, argument]")
	}
	structured := d.Output == "json" || d.Output == "jsonl"
	switch {
	case structured && d.Answer == "":
		c.add(at+".output", "", "output: %s needs the JSON path of the answer, such as answer: $.result", d.Output)
	case !structured && d.Answer != "":
		c.add(at+".answer", "", "a text has no JSON path; say output: json or output: jsonl, too")
	case structured:
		if _, err := jsonpath.Parse(d.Answer); err != nil {
			c.add(at+".answer", "", "%v", err)
		}
	}
	if d.Lives == "session" {
		c.checkLived(at, d)
	}
	return c.checkTalk(at, &d.Talk)
}

// checkLived checks how a process is spoken to that lives for a whole session, in which
// a turn is a line of its standard input.
func (c *checker) checkLived(at string, d *CommandDrive) {
	if d.Input != "" && d.Input != "stdin" {
		c.add(at+".input", "", "a process that lives for the session reads its turns from standard input, not by input: %s", d.Input)
	}
	for i, turn := range d.Turns {
		if strings.ContainsAny(turn, "\r\n") {
			c.add(fmt.Sprintf("%s.turns[%d]", at, i), "", "the turn has several lines, and to a process that lives for the session a turn is one line; write one, or say lives: turn")
		}
	}
}
