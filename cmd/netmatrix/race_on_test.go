//go:build race

package main

// raceEnabled: the tests were built with the race detector, and so are the
// processes they start.
const raceEnabled = true
