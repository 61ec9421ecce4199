package experiment

import "github.com/rehearse-dev/rehearse/internal/quantity"

// File is an experiment as it is written: which variants of an agent are compared, on
// which scenarios, by what, and at what risk of being wrong.
type File struct {
	// Schema is "rehearse.experiment/1".
	Schema string `yaml:"schema" json:"schema" jsonschema:"enum=rehearse.experiment/1"`
	// Name identifies the experiment, such as "interview/mirror".
	Name string `yaml:"name" json:"name" jsonschema:"pattern=^[a-z0-9][a-z0-9._-]*(/[a-z0-9][a-z0-9._-]*)*$"`
	// About says in a sentence what is asked.
	About string `yaml:"about,omitempty" json:"about,omitempty"`
	// Scenarios are files, folders or patterns of files, relative to the experiment's
	// file, or else names of shipped scenarios, in which * stands for any part of a name
	// between slashes.
	Scenarios []string `yaml:"scenarios" json:"scenarios" jsonschema:"minItems=1"`
	// Variants are what is compared, at least two unless tune finds them.
	Variants []Variant `yaml:"variants,omitempty" json:"variants,omitempty"`
	// Against names the variant that the others are held against; without it every pair
	// is compared.
	Against string `yaml:"against,omitempty" json:"against,omitempty"`
	// Trials is how often each variant is tried in each scenario, at most.
	Trials int `yaml:"trials" json:"trials" jsonschema:"minimum=1,maximum=100000"`
	// Seed feeds all randomness, beside the seeds of the scenarios; default 1.
	Seed uint64 `yaml:"seed,omitempty" json:"seed,omitempty"`
	// Primary is the measure that decides.
	Primary Measure `yaml:"primary" json:"primary"`
	// Secondary are measures that explain.
	Secondary []Measure `yaml:"secondary,omitempty" json:"secondary,omitempty"`
	// Alpha bounds the probability of a false alarm among all comparisons by the primary
	// measure; default 0.05.
	Alpha float64 `yaml:"alpha,omitempty" json:"alpha,omitempty" jsonschema:"minimum=0.000001,maximum=0.5"`
	// Power is the wanted probability to find the smallest effect of interest; default
	// 0.8.
	Power float64 `yaml:"power,omitempty" json:"power,omitempty" jsonschema:"minimum=0.5,maximum=0.999"`
	// Scope says what verdicts are about: these scenarios, or all that are alike, of
	// which these are a sample. The default is alike from 10 scenarios on.
	Scope string `yaml:"scope,omitempty" json:"scope,omitempty" jsonschema:"enum=these,enum=alike"`
	// Stop allows to stop early, without more false alarms.
	Stop *Stop `yaml:"stop,omitempty" json:"stop,omitempty"`
	// Caps bound what the whole experiment may take.
	Caps Caps `yaml:"caps,omitempty" json:"caps,omitzero"`
	// Split keeps scenarios back from tuning. An experiment without tune is carried out
	// on those that are held out.
	Split *Split `yaml:"split,omitempty" json:"split,omitempty"`
	// Tune is a search for a better text, by rehearse tune.
	Tune *Tune `yaml:"tune,omitempty" json:"tune,omitempty"`
}

// Variant is a named list of settings.
type Variant struct {
	// Name is short, such as "terse".
	Name string `yaml:"name" json:"name" jsonschema:"pattern=^[a-z0-9][a-z0-9._-]*$"`
	// About says in a sentence what is different.
	About string `yaml:"about,omitempty" json:"about,omitempty"`
	// Set are values by their path in a scenario, such as "drive.loop.prompt" or
	// "backend.model". They take the place of what every scenario says there; without
	// any the scenarios are as they are. {file: prompts/terse.md} stands for the text of
	// a file, relative to the experiment's, without the line break at its end; null takes
	// the key away.
	Set map[string]any `yaml:"set,omitempty" json:"set,omitempty"`
}

// Measure is what variants are compared by: either a measure of a trial by its name,
// or an expression over its facts.
type Measure struct {
	// Name is "pass", a measure such as "calls", "cost_eur" or "latency_p95", or the name
	// of the expression.
	Name string `yaml:"name" json:"name" jsonschema:"pattern=^[a-z0-9][a-z0-9._-]*$"`
	// Expr is an expression (CEL) over the facts of a trial, as under expect.that, that
	// yields a number, or true or false for 1 and 0.
	Expr string `yaml:"expr,omitempty" json:"expr,omitempty"`
	// Better says which values are; the default is higher for pass and lower for the
	// other measures. An expression needs it.
	Better string `yaml:"better,omitempty" json:"better,omitempty" jsonschema:"enum=higher,enum=lower"`
	// SmallestEffect is the smallest difference of interest, in the measure's own unit: a
	// share for pass, seconds, EUR, a count.
	SmallestEffect float64 `yaml:"smallest_effect,omitempty" json:"smallest_effect,omitempty" jsonschema:"minimum=0"`
	// Range is the least and the greatest value that a trial can have, in the measure's own
	// unit, such as [0, 60] for seconds under a limit of a minute. Without it variants are
	// equivalent, or not worse, only by a share: a rare value could be of any size. What is
	// true or false needs none.
	Range []float64 `yaml:"range,omitempty,flow" json:"range,omitempty" jsonschema:"minItems=2,maxItems=2"`
}

// Stop says when an experiment may stop early.
type Stop struct {
	// Looks is how often the data are looked at, the last time included.
	Looks int `yaml:"looks" json:"looks" jsonschema:"minimum=2,maximum=20"`
	// Spending is how alpha is spent over the looks: obrien-fleming, the default, is slow
	// to stop and costs next to nothing; pocock is quick and costs power.
	Spending string `yaml:"spending,omitempty" json:"spending,omitempty" jsonschema:"enum=obrien-fleming,enum=pocock"`
}

// Caps bound a whole experiment; they are checked before each call. 0 bounds nothing.
type Caps struct {
	// Calls counts calls to models.
	Calls int `yaml:"calls,omitempty" json:"calls,omitempty" jsonschema:"minimum=1"`
	// Cost is money; where the cost of a call is unknown it is used up.
	Cost quantity.Money `yaml:"cost,omitempty" json:"cost,omitzero"`
}

// Split divides the scenarios into those for training and those held out; either part
// of the file's keys.
type Split struct {
	// Share is how much of the scenarios is held out, drawn by the seed.
	Share float64 `yaml:"share,omitempty" json:"share,omitempty" jsonschema:"minimum=0.05,maximum=0.95"`
	// HeldOut are names of scenarios, in which * stands for any part of a name between
	// slashes.
	HeldOut []string `yaml:"held_out,omitempty" json:"held_out,omitempty"`
}

// Tune is a search over fragments of a text, on the training scenarios. What it finds
// is promoted only if it is better than the base on those that are held out.
type Tune struct {
	// Base is the variant to beat.
	Base string `yaml:"base" json:"base"`
	// Path is the setting that is searched, such as "drive.loop.prompt".
	Path string `yaml:"path" json:"path"`
	// Text is put there, or the text of a {file: name}; {{name}} stands for the fragment
	// of that name.
	Text any `yaml:"text" json:"text"`
	// Fragments are what may be chosen.
	Fragments []Fragment `yaml:"fragments" json:"fragments" jsonschema:"minItems=1"`
	// Search is greedy, the default, which settles one fragment after the other, or
	// halving, which tries all combinations and keeps the better half with twice the
	// trials.
	Search string `yaml:"search,omitempty" json:"search,omitempty" jsonschema:"enum=greedy,enum=halving"`
	// Trials is how often a candidate is tried in each training scenario; with halving,
	// in the first round.
	Trials int `yaml:"trials" json:"trials" jsonschema:"minimum=1,maximum=10000"`
}

// Fragment is a part of a text with its options.
type Fragment struct {
	// Name is what stands between double braces in the text.
	Name string `yaml:"name" json:"name" jsonschema:"pattern=^[a-z0-9][a-z0-9_-]*$"`
	// Options are texts, or {file: name}; an empty text leaves the fragment out.
	Options []any `yaml:"options" json:"options" jsonschema:"minItems=2"`
}
