package harness

// RunDrivers is Run for drivers that are made already.
var RunDrivers = run
