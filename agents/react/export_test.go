package react

// TriggerIn exports triggerIn to the specs.
var TriggerIn = triggerIn
