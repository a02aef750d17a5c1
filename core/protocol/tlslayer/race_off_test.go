//go:build !race

package tlslayer_test

const raceEnabled = false
