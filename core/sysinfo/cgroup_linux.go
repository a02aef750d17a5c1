package sysinfo

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// cpuQuota is how many CPUs' time this process's control group may use, nil
// without a limit. The tightest limit between the group and the root counts.
// A limit that makes no sense is an error and does not count.
func (t tree) cpuQuota() (*float64, error) {
	b, err := fs.ReadFile(t.fs, "proc/self/cgroup")
	if err != nil {
		return nil, fmt.Errorf("CPU quota: %w", err)
	}
	var (
		tightest *float64
		odd      []error
	)
	for line := range strings.Lines(string(b)) {
		mounts, group, limit := t.controller(line)
		for _, mount := range mounts {
			for _, dir := range upwards(group) {
				quota, err := limit(path.Join(mount, dir))
				if err != nil {
					odd = append(odd, err)
				}
				if quota != nil && (tightest == nil || *quota < *tightest) {
					tightest = quota
				}
			}
		}
	}
	return tightest, errors.Join(odd...)
}

// controller reads one line of /proc/PID/cgroup, "id:controllers:path": where
// a controller of CPU time may be mounted, the group, and how its limit is
// read. Lines of other controllers have no mounts.
func (t tree) controller(line string) (mounts []string, group string, limit func(dir string) (*float64, error)) {
	fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
	if len(fields) != 3 {
		return nil, "", nil
	}
	const root = "sys/fs/cgroup"
	switch {
	case fields[0] == "0" && fields[1] == "":
		return []string{root, root + "/unified"}, fields[2], t.limitV2
	case slices.Contains(strings.Split(fields[1], ","), "cpu"):
		return []string{root + "/" + fields[1], root + "/cpu"}, fields[2], t.limitV1
	}
	return nil, "", nil
}

// upwards lists a group and those above it: /a/b, /a, /. In a container the
// path may be the host's, of which only the root is to be seen.
func upwards(group string) []string {
	var dirs []string
	for dir := path.Join("/", group); ; dir = path.Dir(dir) {
		dirs = append(dirs, dir)
		if dir == "/" {
			return dirs
		}
	}
}

// limitV2 reads cpu.max: "quota period" in microseconds, quota may be "max".
func (t tree) limitV2(dir string) (*float64, error) {
	name := dir + "/cpu.max"
	fields := strings.Fields(t.text(name))
	if len(fields) == 0 || fields[0] == "max" {
		return nil, nil
	}
	if len(fields) != 2 {
		return nil, fmt.Errorf("CPU quota: %s holds %q, want a quota and a period", name, fields)
	}
	return quotient(name, fields[0], fields[1])
}

// limitV1 reads cpu.cfs_quota_us, -1 for none, and cpu.cfs_period_us.
func (t tree) limitV1(dir string) (*float64, error) {
	name := dir + "/cpu.cfs_quota_us"
	quota := t.text(name)
	if quota == "" || quota == "-1" {
		return nil, nil
	}
	return quotient(name, quota, t.text(dir+"/cpu.cfs_period_us"))
}

func quotient(name, quota, period string) (*float64, error) {
	q, qErr := strconv.ParseInt(quota, 10, 64)
	p, pErr := strconv.ParseInt(period, 10, 64)
	if qErr != nil || pErr != nil || q <= 0 || p <= 0 {
		return nil, fmt.Errorf("CPU quota: %s holds quota %q in period %q, want two numbers above 0", name, quota, period)
	}
	cpus := float64(q) / float64(p)
	return &cpus, nil
}
