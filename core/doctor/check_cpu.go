package doctor

import (
	"fmt"
	"slices"
	"strings"
)

// tolerable is the share of the CPUs that others may take before figures
// suffer.
const tolerable = 0.03

func cpus(s Subject) Finding {
	n := len(s.Machine.AllowedCPUs)
	server, load := s.Demand.Server, s.Demand.Load
	switch {
	case n == 0:
		return untold()
	case n == 1:
		return warning("one CPU only: server and load share it, and split figures say little").
			mend("measure on a machine with two CPUs or more, or compare colocated cells only")
	case !s.Placement:
		return note("%d CPUs; this system binds no process to some of them", n).
			mend("keep everything else on the machine quiet")
	case len(server) == 0 || len(load) == 0:
		return note("%d CPUs, and the matrix leaves it to the kernel who runs where", n).
			mend("give each end its own in the matrix file:").run("cpus: auto")
	}
	if both := intersection(server, load); len(both) > 0 {
		return warning("server and load both run on CPU %s", ranges(both)).
			mend("give each end its own in the matrix file:").run("cpus: auto")
	}
	return ok("%d CPUs: server on %s, load on %s", n, ranges(server), ranges(load))
}

func siblings(s Subject) Finding {
	var torn []string
	for _, core := range s.Machine.Siblings {
		if len(intersection(core, s.Demand.Server)) > 0 && len(intersection(core, s.Demand.Load)) > 0 {
			torn = append(torn, ranges(core))
		}
	}
	switch {
	case len(torn) == 0 && len(s.Machine.Siblings) == 0 && s.Machine.Hypervisor != "":
		return ok("every CPU seems to be a core, but a hypervisor may hide that it is not")
	case len(torn) == 0:
		return ok("server and load share no core")
	}
	f := warning("server and load share a core in CPUs %s", strings.Join(torn, " and "))
	server, load := wholeCores(s.Machine.AllowedCPUs, s.Machine.Siblings)
	if len(load) == 0 {
		return f.mend("there is one core only: compare colocated cells, or measure on another machine")
	}
	return f.mend("give each end whole cores in the matrix file:").
		run("cpus: {server: %s, load: %s}", yamlList(server), yamlList(load))
}

// wholeCores halves the CPUs without tearing a core apart.
func wholeCores(allowed []int, siblings [][]int) (server, load []int) {
	for _, cpu := range allowed {
		if slices.Contains(server, cpu) || slices.Contains(load, cpu) {
			continue
		}
		core := []int{cpu}
		for _, group := range siblings {
			if slices.Contains(group, cpu) {
				core = intersection(allowed, group)
			}
		}
		if len(server) < len(allowed)/2 {
			server = append(server, core...)
		} else {
			load = append(load, core...)
		}
	}
	return server, load
}

func quota(s Subject) Finding {
	q, n := s.Machine.CPUQuota, len(s.Machine.AllowedCPUs)
	switch {
	case q == nil:
		return ok("no limit on CPU time")
	case *q < float64(n):
		return warning("the control group may use %.3g of its %d CPUs", *q, n).
			mend("start outside the limit: without --cpus in docker, with CPUQuota= in systemd; or with fewer CPUs:").
			run("taskset -c %s netmatrix run", ranges(s.Machine.AllowedCPUs[:max(1, int(*q))]))
	}
	return note("the control group may use %.3g CPUs, and there are %d", *q, n)
}

func hypervisor(s Subject) Finding {
	guest, steal := s.Machine.Hypervisor, ""
	if s.Watch != nil {
		steal = fmt.Sprintf("; it took %s of the CPUs in %s", percent(s.Watch.Steal), seconds(s.Watch.For))
	}
	switch {
	case s.Watch != nil && s.Watch.Steal > tolerable:
		return warning("hypervisor %s%s", orUnnamed(guest), steal).
			mend("measure at a quieter time, or on a machine of its own")
	case guest == "":
		return ok("none")
	}
	return note("hypervisor %s%s", guest, steal).
		mend("compare figures of one run only: ratios hold, absolute figures move with the host")
}

func orUnnamed(guest string) string {
	if guest == "" {
		return "unnamed"
	}
	return guest
}

func otherLoad(s Subject) Finding {
	w := s.Watch
	if w == nil {
		return untold()
	}
	text := fmt.Sprintf("others used %s of the CPUs in %s", percent(w.Others), seconds(w.For))
	if w.Others <= tolerable {
		return ok("%s", text)
	}
	names := make([]string, len(w.Busiest))
	for i, u := range w.Busiest {
		names[i] = fmt.Sprintf("%s (process %d) %s of one", u.Name, u.PID, percent(u.Share))
	}
	if len(names) > 0 {
		text += ": " + strings.Join(names, ", ")
	}
	return warning("%s", text).mend("end what can be ended, or wait until it is done")
}

func governor(s Subject) Finding {
	switch g := s.Machine.Governor; g {
	case "":
		return untold()
	case "performance":
		return ok("performance")
	default:
		return warning("%s", g).mend("keep the frequency up while measuring:").
			run("sudo cpupower frequency-set -g performance")
	}
}

func boost(s Subject) Finding {
	on := s.Machine.Settings.Boost
	switch {
	case on == nil:
		return untold()
	case !*on:
		return ok("off")
	}
	f := note("on").mend("where figures must repeat, give it up while measuring:")
	if strings.HasPrefix(s.Machine.Settings.FrequencyDriver, "intel_") {
		return f.run("echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo")
	}
	return f.run("echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost")
}

func power(s Subject) Finding {
	switch s.Machine.Power {
	case "battery":
		return warning("on battery").mend("plug it in")
	case "":
		return ok("no battery in use")
	}
	return ok("%s", s.Machine.Power)
}
