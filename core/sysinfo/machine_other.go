//go:build !linux && !darwin && !freebsd

package sysinfo

import (
	"os"
	"runtime"
)

// Machine describes this machine as far as the Go runtime knows it.
func Machine() Facts {
	logical := runtime.NumCPU()
	return Facts{
		Architecture: runtime.GOARCH,
		OS:           runtime.GOOS,
		LogicalCores: &logical,
		CI:           ciService(os.Getenv),
		Warnings:     []string{"most facts of the machine are unknown on " + runtime.GOOS},
	}
}
