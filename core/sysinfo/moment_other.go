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

// unknown is the error of a fact that this operating system does not give. It
// wraps errors.ErrUnsupported.
func unknown(what string) error {
	return fmt.Errorf("%s on %s: %w", what, runtime.GOOS, errors.ErrUnsupported)
}
