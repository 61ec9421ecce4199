package experiment

import "github.com/rehearse-dev/rehearse/internal/quantity"

// File is the content of an experiment file: the variants of an agent to compare, the scenarios,
// the measures and the accepted error rates.
type File struct {
	// Schema is "rehearse.experiment/1".
	Schema string `yaml:"schema" json:"schema" jsonschema:"enum=rehearse.experiment/1"`
	// Name identifies the experiment, such as "interview/mirror".
	Name string `yaml:"name" json:"name" jsonschema:"pattern=^[a-z0-9][a-z0-9._-]*(/[a-z0-9][a-z0-9._-]*)*$"`
	// About describes the question in a sentence.
	About string `yaml:"about,omitempty" json:"about,omitempty"`
	// Scenarios are files, folders or file patterns relative to the experiment's file, or else
	// names of shipped scenarios, in which * stands for any part of a name between slashes.
	Scenarios []string `yaml:"scenarios" json:"scenarios" jsonschema:"minItems=1"`
	// Variants are the compared variants, at least two unless tune searches for them.
	Variants []Variant `yaml:"variants,omitempty" json:"variants,omitempty"`
	// Against names the variant that the others are compared with; by default every pair is
	// compared.
	Against string `yaml:"against,omitempty" json:"against,omitempty"`
	// Trials is the maximal number of trials of each variant in each scenario.
	Trials int `yaml:"trials" json:"trials" jsonschema:"minimum=1,maximum=100000"`
	// Seed seeds all randomness, in addition to the seeds of the scenarios; default 1.
	Seed uint64 `yaml:"seed,omitempty" json:"seed,omitempty"`
	// Primary is the measure that decides.
	Primary Measure `yaml:"primary" json:"primary"`
	// Secondary are explanatory measures.
	Secondary []Measure `yaml:"secondary,omitempty" json:"secondary,omitempty"`
	// Alpha bounds the probability of any false alarm among the comparisons by the primary
	// measure; default 0.05.
	Alpha float64 `yaml:"alpha,omitempty" json:"alpha,omitempty" jsonschema:"minimum=0.000001,maximum=0.5"`
	// Power is the wanted probability of finding the smallest effect of interest; default 0.8.
	Power float64 `yaml:"power,omitempty" json:"power,omitempty" jsonschema:"minimum=0.5,maximum=0.999"`
	// Scope is the population that verdicts are about: these scenarios, or similar ones, of which
	// these are a sample. The default is alike for 10 and more scenarios.
	Scope string `yaml:"scope,omitempty" json:"scope,omitempty" jsonschema:"enum=these,enum=alike"`
	// Stop allows early stopping without more false alarms.
	Stop *Stop `yaml:"stop,omitempty" json:"stop,omitempty"`
	// Caps limit the whole experiment.
	Caps Caps `yaml:"caps,omitempty" json:"caps,omitzero"`
	// Split excludes scenarios from tuning. An experiment without tune uses the held-out scenarios
	// only.
	Split *Split `yaml:"split,omitempty" json:"split,omitempty"`
	// Tune searches for a better text, by rehearse tune.
	Tune *Tune `yaml:"tune,omitempty" json:"tune,omitempty"`
}

// Variant is a named list of settings.
type Variant struct {
	// Name is a short name, such as "terse".
	Name string `yaml:"name" json:"name" jsonschema:"pattern=^[a-z0-9][a-z0-9._-]*$"`
	// About describes the difference in a sentence.
	About string `yaml:"about,omitempty" json:"about,omitempty"`
	// Set maps paths in a scenario, such as "drive.loop.prompt" or "backend.model", to values that
	// replace those of every scenario; empty leaves the scenarios unchanged. {file:
	// prompts/terse.md} stands for the text of a file, relative to the experiment's, without its
	// final line break; null removes the key.
	Set map[string]any `yaml:"set,omitempty" json:"set,omitempty"`
}

// Measure is a quantity by which variants are compared: a measure of a trial, by its name, or an
// expression over its facts.
type Measure struct {
	// Name is "pass", a measure such as "calls", "cost_eur" or "latency_p95", or the name of the
	// expression.
	Name string `yaml:"name" json:"name" jsonschema:"pattern=^[a-z0-9][a-z0-9._-]*$"`
	// Expr is an expression (CEL) over the facts of a trial, as under expect.that, that yields a
	// number or a boolean, which counts as 1 or 0.
	Expr string `yaml:"expr,omitempty" json:"expr,omitempty"`
	// Better names the better values; the default is higher for pass and lower for other measures.
	// Required for an expression.
	Better string `yaml:"better,omitempty" json:"better,omitempty" jsonschema:"enum=higher,enum=lower"`
	// SmallestEffect is the smallest difference of interest, in the measure's own unit: a share
	// for pass, seconds, EUR, a count.
	SmallestEffect float64 `yaml:"smallest_effect,omitempty" json:"smallest_effect,omitempty" jsonschema:"minimum=0"`
	// Range contains the smallest and the largest possible value of a trial, in the measure's own
	// unit, such as [0, 60] for seconds with a limit of a minute. Without it only shares can be
	// found equivalent or not worse, because rare values could have any size. Booleans need none.
	Range []float64 `yaml:"range,omitempty,flow" json:"range,omitempty" jsonschema:"minItems=2,maxItems=2"`
}

// Stop configures early stopping.
type Stop struct {
	// Looks is the number of analyses, the final one included.
	Looks int `yaml:"looks" json:"looks" jsonschema:"minimum=2,maximum=20"`
	// Spending is the alpha-spending function: obrien-fleming, the default, stops late and costs
	// almost no power; pocock stops early and costs power.
	Spending string `yaml:"spending,omitempty" json:"spending,omitempty" jsonschema:"enum=obrien-fleming,enum=pocock"`
}

// Caps limit a whole experiment. They are checked before each call; 0 means no limit.
type Caps struct {
	// Calls limits the number of calls to models.
	Calls int `yaml:"calls,omitempty" json:"calls,omitempty" jsonschema:"minimum=1"`
	// Cost limits the cost; a call of unknown cost uses it up.
	Cost quantity.Money `yaml:"cost,omitempty" json:"cost,omitzero"`
}

// Split divides the scenarios into training and held-out ones, by one of its keys.
type Split struct {
	// Share is the fraction of the scenarios that is held out, drawn by the seed.
	Share float64 `yaml:"share,omitempty" json:"share,omitempty" jsonschema:"minimum=0.05,maximum=0.95"`
	// HeldOut contains names of scenarios, in which * stands for any part of a name between
	// slashes.
	HeldOut []string `yaml:"held_out,omitempty" json:"held_out,omitempty"`
}

// Tune searches over fragments of a text on the training scenarios. The result is promoted only if
// it is better than the base on the held-out scenarios.
type Tune struct {
	// Base is the variant to beat.
	Base string `yaml:"base" json:"base"`
	// Path is the setting to search, such as "drive.loop.prompt".
	Path string `yaml:"path" json:"path"`
	// Text is the value of the setting, or {file: name}; {{name}} is replaced by the fragment with
	// that name.
	Text any `yaml:"text" json:"text"`
	// Fragments are the variable parts of the text.
	Fragments []Fragment `yaml:"fragments" json:"fragments" jsonschema:"minItems=1"`
	// Search is greedy, the default, which settles one fragment after the other, or halving, which
	// tries all combinations and repeatedly keeps the better half with twice the trials.
	Search string `yaml:"search,omitempty" json:"search,omitempty" jsonschema:"enum=greedy,enum=halving"`
	// Trials is the number of trials of a candidate in each training scenario; with halving, in
	// the first round.
	Trials int `yaml:"trials" json:"trials" jsonschema:"minimum=1,maximum=10000"`
}

// Fragment is a part of a text with its options.
type Fragment struct {
	// Name is the name between double braces in the text.
	Name string `yaml:"name" json:"name" jsonschema:"pattern=^[a-z0-9][a-z0-9_-]*$"`
	// Options are texts, or {file: name}; an empty text omits the fragment.
	Options []any `yaml:"options" json:"options" jsonschema:"minItems=2"`
}
