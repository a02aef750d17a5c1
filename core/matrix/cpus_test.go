package matrix

import (
	"slices"
	"testing"
)

func TestCPUSets(t *testing.T) {
	list := CPUs{Mode: CPUsList, Server: []int{3}, Load: []int{1, 2}}
	for _, tt := range []struct {
		name                  string
		cpus                  CPUs
		allowed, server, load []int
	}{
		{"auto", CPUs{Mode: CPUsAuto}, []int{0, 2, 3, 5}, []int{0, 2}, []int{3, 5}},
		{"auto, odd", CPUs{Mode: CPUsAuto}, []int{0, 1, 2}, []int{0}, []int{1, 2}},
		{"auto, one CPU", CPUs{Mode: CPUsAuto}, []int{0}, nil, nil},
		{"auto, unknown CPUs", CPUs{Mode: CPUsAuto}, nil, nil, nil},
		{"none", CPUs{Mode: CPUsNone}, []int{0, 1}, nil, nil},
		{"list", list, []int{0, 1, 2, 3}, []int{3}, []int{1, 2}},
	} {
		server, load := tt.cpus.Sets(tt.allowed)
		if !slices.Equal(server, tt.server) || !slices.Equal(load, tt.load) {
			t.Errorf("%s: server %v, load %v, want %v, %v", tt.name, server, load, tt.server, tt.load)
		}
	}
}
