package react

// TriggerOf is triggerOf, for its specs.
var TriggerOf = triggerOf
