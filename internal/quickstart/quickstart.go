// Package quickstart spares programs that link testcontainers-go a slow start: that
// library lists all processes of the machine in an init function, to name a session
// that nothing here uses. Of Linux that takes 5 to 20 ms with a hundred processes, in
// every command of a program that could also start a container.
//
// The listing is done by gopsutil, which looks for processes where HOST_PROC says, and
// gives up at once where there is nothing. The Go specification (package
// initialization) has it that of the packages whose imports are initialized the one
// whose import path sorts first is next: this one is before testcontainers-go. Whoever
// imports that calls Done in a variable or an init function of its own, which comes
// after.
package quickstart

import "os"

const variable = "HOST_PROC"

var before, was = os.LookupEnv(variable)

// hidden is the error of hiding the processes; nil if that was done.
var hidden = os.Setenv(variable, os.DevNull)

// Done puts the environment back as it was.
func Done() error {
	if hidden != nil || !was {
		return os.Unsetenv(variable)
	}
	return os.Setenv(variable, before)
}
