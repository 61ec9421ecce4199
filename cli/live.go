package cli

import (
	"errors"

	"github.com/spf13/pflag"

	"github.com/rehearse-dev/rehearse/llm/openai"
)

// liveFlag adds --live, which permits real models.
func liveFlag(f *pflag.FlagSet, live *bool) {
	f.BoolVar(live, "live", false, "call the real models of scenarios whose backend is live; they cost money")
}

// checkLive returns an error if --live was given where real models are forbidden.
func (a *app) checkLive(live bool) error {
	if live && openai.FromEnv(a.getenv).Offline {
		return errors.New("--live: REHEARSE_OFFLINE forbids real models, whatever else is set; unset it, or leave --live out")
	}
	return nil
}
