package cli

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/rehearse-dev/rehearse/internal/suggest"
	"github.com/rehearse-dev/rehearse/skills"
)

// skillAgents are the coding agents that read skills.
var skillAgents = []string{"claude", "codex", "copilot", "gemini", "opencode", "qwen"}

// skillFolder returns the folder of a project in which a coding agent looks for skills.
func skillFolder(agent string) string {
	if agent == "claude" {
		return ".claude/skills"
	}
	return ".agents/skills"
}

// checkSkills validates the names of coding agents.
func checkSkills(agents []string) error {
	for _, agent := range agents {
		if !slices.Contains(skillAgents, agent) {
			return fmt.Errorf("--skill: %w", suggest.NotAmong("coding agent", agent, skillAgents))
		}
	}
	return nil
}

// writeSkills writes the skill into a project, where these coding agents find it. A file that differs is kept.
func (a *app) writeSkills(folder string, agents []string) error {
	var targets []string
	for _, agent := range agents {
		if target := skillFolder(agent); !slices.Contains(targets, target) {
			targets = append(targets, target)
		}
	}
	for _, target := range targets {
		err := fs.WalkDir(skills.Files, ".", func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			text, err := fs.ReadFile(skills.Files, name)
			if err != nil {
				return err
			}
			file := filepath.Join(folder, filepath.FromSlash(target), filepath.FromSlash(name))
			if have, err := os.ReadFile(file); err == nil && !bytes.Equal(have, text) {
				fmt.Fprintf(a.stdout, "kept     %s (it differs from that of this version; remove it to get that)\n", file)
				return nil
			}
			return a.writeNew(file, text)
		})
		if err != nil {
			return usage(fmt.Errorf("write the skill into %s: %w", target, err))
		}
	}
	return nil
}
