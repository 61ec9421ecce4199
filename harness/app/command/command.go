// Package command drives an agent that is a program: what the user says reaches it over
// standard input, in its arguments or in a file, and what it prints is its answer.
package command
