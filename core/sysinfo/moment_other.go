//go:build !linux

package sysinfo

import (
	"errors"
	"fmt"
	"runtime"
)

// ReadActivity is errors.ErrUnsupported here.
func ReadActivity([]int) (Activity, error) { return Activity{}, unknown("activity of the CPUs") }

// ReadMemory is errors.ErrUnsupported here.
func ReadMemory() (Memory, error) { return Memory{}, unknown("memory left") }

// Processes is errors.ErrUnsupported here.
func Processes() ([]Process, error) { return nil, unknown("processes") }

func unknown(what string) error {
	return fmt.Errorf("%s on %s: %w", what, runtime.GOOS, errors.ErrUnsupported)
}
