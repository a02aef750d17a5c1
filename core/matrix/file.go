package matrix

import (
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/netmatrix/netmatrix/core/cell"
)

// The keys of each mapping of the file with a fixed set of them. The schema is
// held to the same lists.
var (
	fileKeys     = []string{"version", "runtimes", "baseline", "load", "cpus", "defaults", "suites", "exclude"}
	runtimeKeys  = []string{"plugin"}
	baselineKeys = []string{"runtime", "execution"}
	loadKeys     = []string{"runtime", "threads", "wait"}
	cpusKeys     = []string{"server", "load"}
)

// What the file stands for where it says nothing.
const (
	defaultBaseline = "coroutine"
	defaultLoad     = "rawpoll"
	defaultRounds   = 3
	defaultWarmup   = 250 * time.Millisecond
	defaultMeasure  = time.Second
	defaultDelta    = 0.03
)

const (
	autoThreads = "auto" // written for LoadSetup.Threads 0
	maxCPU      = 8191   // the most that Linux can be built for, less one
)

// nameForm is what runtimes and suites may be called: names stand in paths, in
// flags and between the signs / and , there.
var nameForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$`)

// matrix reads the top level. Suites come last, since they need the rest.
func (d *decoder) matrix(root *yaml.Node) *Matrix {
	top := d.record(root, "the file", fileKeys)
	for _, key := range []string{"version", "runtimes", "suites"} {
		if top[key] == nil {
			d.fail(root, "the file has no %s; add %s: …", key, key)
			return nil
		}
	}
	m := &Matrix{Version: Version}
	if v := d.plain(top["version"], "version"); v != strconv.Itoa(Version) {
		d.fail(top["version"], "version %s of the file format is not known here; write version: %d", quote(v), Version)
	}
	m.Runtimes = d.readRuntimes(top["runtimes"])
	m.Baseline = d.readBaseline(top["baseline"], top["runtimes"])
	m.Load = d.readLoad(top["load"], top["runtimes"])
	m.CPUs = d.readCPUs(top["cpus"])
	s := d.newSuites(m.Baseline, m.Load.Wait)
	if n := top["defaults"]; n != nil {
		s.readDefaults(n)
	}
	if n := top["exclude"]; n != nil {
		s.excludes = d.readExcludes(n)
	}
	m.Suites = s.readAll(top["suites"])
	return m
}

func (d *decoder) name(f field, of string) {
	if !nameForm.MatchString(f.name()) {
		d.fail(f.key, "%s is no name for a %s; use letters, digits, - _ and ., a letter or digit first", quote(f.name()), of)
	}
}

func (d *decoder) readRuntimes(n *yaml.Node) []Runtime {
	var all []Runtime
	for _, f := range d.mapping(n, "runtimes") {
		d.name(f, "runtime")
		what := describe("runtime", f)
		r := Runtime{Name: f.name()}
		if plugin := d.record(f.value, what, runtimeKeys)["plugin"]; plugin != nil {
			r.Plugin = d.scalar(plugin, "plugin")
			r.Path = resolve(d.file, r.Plugin)
		} else {
			d.fail(f.key, "%s has no plugin; add {plugin: path of its executable}", what)
		}
		all = append(all, r)
		d.runtimes = append(d.runtimes, r.Name)
	}
	return all
}

// resolve is plugin seen from the folder of file. It always holds a separator:
// a bare name would be looked up in PATH when it is started.
func resolve(file, plugin string) string {
	if filepath.IsAbs(plugin) {
		return filepath.Clean(plugin)
	}
	path := filepath.Join(filepath.Dir(file), plugin)
	if !strings.ContainsRune(path, filepath.Separator) {
		path = "." + string(filepath.Separator) + path
	}
	return path
}

func (d *decoder) readBaseline(n, runtimes *yaml.Node) cell.Contender {
	b := cell.Contender{Runtime: defaultBaseline, Execution: cell.Goroutine}
	if n == nil {
		d.needRuntime(runtimes, b.Runtime, "baseline: {runtime: …, execution: …}")
		return b
	}
	keys := d.record(n, "baseline", baselineKeys)
	if keys["runtime"] == nil || keys["execution"] == nil {
		d.fail(n, "baseline needs both keys; write {runtime: …, execution: …}")
		return b
	}
	return cell.Contender{
		Runtime:   d.runtime(keys["runtime"], "runtime"),
		Execution: d.choice(keys["execution"], "execution", cell.Values("execution")),
	}
}

func (d *decoder) readLoad(n, runtimes *yaml.Node) LoadSetup {
	l := LoadSetup{Runtime: defaultLoad, Wait: cell.Busy}
	var keys map[string]*yaml.Node
	if n != nil {
		keys = d.record(n, "load", loadKeys)
	}
	if k := keys["runtime"]; k != nil {
		l.Runtime = d.runtime(k, "runtime")
	} else {
		d.needRuntime(runtimes, l.Runtime, "load: {runtime: …}")
	}
	if k := keys["threads"]; k != nil && k.Value != autoThreads {
		l.Threads = d.integer(k, "threads (auto or a number)", 1, cell.MaxThreads)
	}
	if k := keys["wait"]; k != nil {
		l.Wait = d.choice(k, "wait", cell.Values("load_wait"))
	}
	return l
}

// needRuntime checks that a runtime the file relies on without naming it is there.
func (d *decoder) needRuntime(at *yaml.Node, name, otherwise string) {
	if !slices.Contains(d.runtimes, name) {
		d.fail(at, "runtime %q is not among runtimes, and it is used unless the file says otherwise; add %s", name, otherwise)
	}
}

func (d *decoder) readCPUs(n *yaml.Node) CPUs {
	switch {
	case n == nil:
		return CPUs{Mode: CPUsAuto}
	case n.Kind != yaml.MappingNode:
		if v := d.scalar(n, "cpus"); v != CPUsAuto && v != CPUsNone {
			d.fail(n, "cpus: %s is none of its forms; write auto, none or {server: [0], load: [1]}", quote(v))
		}
		return CPUs{Mode: n.Value}
	}
	keys := d.record(n, "cpus", cpusKeys)
	for _, key := range cpusKeys {
		if keys[key] == nil {
			d.fail(n, "cpus has no %s; write {server: [0], load: [1]}", key)
			return CPUs{}
		}
	}
	return CPUs{Mode: CPUsList, Server: d.cpuSet(keys["server"]), Load: d.cpuSet(keys["load"])}
}

func (d *decoder) cpuSet(n *yaml.Node) []int {
	var set []int
	for _, item := range d.items(n, "cpus") {
		cpu := d.integer(item, "a CPU", 0, maxCPU)
		if slices.Contains(set, cpu) {
			d.fail(item, "CPU %d is in the list twice; keep one", cpu)
		}
		set = append(set, cpu)
	}
	return set
}
