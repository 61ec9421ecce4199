package harness

// RunAll is Run for drivers that are made already.
var RunAll = run
