// Package skills has the skill that teaches a coding agent to write, run and mend scenarios, in the
// format of agent skills: a folder with a SKILL.md.
package skills

import "embed"

// Files has the folder of each skill. init copies them into a project.
//
//go:embed rehearse
var Files embed.FS
