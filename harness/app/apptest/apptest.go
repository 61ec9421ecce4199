// Package apptest is the contract suite of app.Agent: what every way of driving somebody
// else's agent has to hold, whatever the agent does.
package apptest
