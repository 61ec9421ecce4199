package drive

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/rehearse-dev/rehearse/harness/app"
	"github.com/rehearse-dev/rehearse/harness/app/container"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// containerAgent is the application in a container that the scenario names. What it runs
// and its variables are those inside the container, where nothing of ours is.
func containerAgent(sc scenarios.Scenario) (app.Agent, error) {
	d := sc.Drive.Container
	dialogue, err := dialogueOf(d.Web)
	if err != nil {
		return nil, err
	}
	cfg := container.Config{Image: d.Image, Build: d.Build, Port: d.Port, Run: d.Run, Required: d.Required}
	for _, name := range slices.Sorted(maps.Keys(d.Env)) {
		cfg.Env = append(cfg.Env, name+"="+d.Env[name])
	}
	if cfg.Build != "" && !filepath.IsAbs(cfg.Build) {
		folder, err := folderOf(sc)
		if err != nil {
			return nil, fmt.Errorf("build the container's image of the folder %s: %w", cfg.Build, err)
		}
		cfg.Build = filepath.Join(folder, filepath.FromSlash(cfg.Build))
	}
	return container.New(cfg, dialogue)
}
