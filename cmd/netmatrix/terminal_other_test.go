//go:build !linux

package main

import (
	"os"
	"testing"
)

func openTerminal(t *testing.T) (ours, theirs *os.File) {
	t.Skip("pseudo-terminals are opened on Linux only")
	return nil, nil
}
