package stop

// Judge judges a message. It never fails and never panics: a text that says
// nothing may stop.
func Judge(message string, o Options) Verdict {
	if o.Policy == "" {
		o.Policy = Balanced
	}
	if o.Point == "" {
		o.Point = FinalAnswer
	}
	return Verdict{
		MayStop: true, Policy: o.Policy, Point: o.Point, Class: Clean,
		Policies: map[Policy]bool{Balanced: true, Strict: true},
		Reason:   "nothing announces work that was not done",
	}
}
