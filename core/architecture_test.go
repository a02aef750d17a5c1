// Package core_test holds the tree to its design: who may import whom, who owns
// which module, and where time and chance come from.
package core_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"maps"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/netmatrix/netmatrix/"

// floors are the floors of the design, from the ground up. A folder stands for
// all that is beneath it. Imports go down or stay on their floor.
var floors = [][]string{
	{"core/transport", "core/hist", "core/sysinfo"},
	{"core/cell", "core/message", "core/protocol", "runtimes"},
	{"core/control", "core/matrix", "core/echo", "core/load", "core/record", "core/compare"},
	{"core/agent", "core/authority", "core/goplugin"},
	{"core/driver", "core/report", "core/conformance", "core/doctor"},
	{"cmd", "plugins", "bench"},
}

// timeless is how many floors, from the ground up, get time and chance from outside.
const timeless = 3

// pkg is what the rules look at: a package without its tests, in the files of
// every system.
type pkg struct {
	path    string   // within the module
	imports []string // sorted, each once
	uses    []string // what it names of the packages in watched: "time.Now"
}

// watched are the packages whose use depends on what of them is used.
var watched = []string{"time", "math/rand", "math/rand/v2"}

func TestArchitecture(t *testing.T) {
	pkgs, modules := load(t)
	for _, fault := range faults(pkgs, modules) {
		t.Error(fault)
	}
}

// faults are the rules that pkgs break, in words.
func faults(pkgs []pkg, modules []string) (list []string) {
	if len(pkgs) == 0 {
		return []string{"there are no packages to look at"}
	}
	for _, p := range pkgs {
		list = append(list, wrongFloor(p)...)
		list = append(list, forbidden(p)...)
		list = append(list, clocksAndDice(p)...)
	}
	return append(list, shared(pkgs, modules)...)
}

// within reports whether p is folder or lies in it.
func within(p, folder string) bool {
	return p == folder || strings.HasPrefix(p, folder+"/")
}

// floor is the floor that a path of the module stands on; -1: none.
func floor(p string) int {
	return slices.IndexFunc(floors, func(folders []string) bool {
		return slices.ContainsFunc(folders, func(folder string) bool { return within(p, folder) })
	})
}

// wrongFloor finds imports that go up.
func wrongFloor(p pkg) (list []string) {
	at := floor(p.path)
	if at < 0 {
		return []string{p.path + " stands on no floor: give it one in the design and here"}
	}
	for _, imported := range p.imports {
		if ours, ok := strings.CutPrefix(imported, module); ok && floor(ours) > at {
			list = append(list, fmt.Sprintf("%s (floor %d) imports %s (floor %d): imports go down", p.path, at, ours, floor(ours)))
		}
	}
	return list
}

// forbidden finds imports that no floor allows.
func forbidden(p pkg) (list []string) {
	no := func(imported, why string) {
		list = append(list, fmt.Sprintf("%s imports %s: %s", p.path, imported, why))
	}
	for _, imported := range p.imports {
		ours, own := strings.CutPrefix(imported, module)
		switch {
		case within(p.path, "core") && own && !within(ours, "core"):
			no(ours, "core knows no runtime, plugin or command")
		case within(p.path, "runtimes") && own && !within(ours, "core/transport") && !within(ours, runtimeOf(p.path)):
			no(ours, "a runtime imports core/transport, with what is beneath it, and its own library only")
		case within(p.path, "core/protocol") && ioPackage(p.path, imported):
			no(imported, "a codec does no IO and knows no time")
		}
	}
	return list
}

// runtimeOf is the folder of the runtime that a path belongs to.
func runtimeOf(p string) string {
	for p != "." && path.Dir(p) != "runtimes" {
		p = path.Dir(p)
	}
	return p
}

// ioPackage reports whether a codec at p must not import a package. The tls
// layer has to name the types of net and time that crypto/tls asks for.
func ioPackage(p, imported string) bool {
	if strings.HasPrefix(p, "core/protocol/tls") && (imported == "net" || imported == "time") {
		return false
	}
	return slices.ContainsFunc([]string{"net", "os", "time", "sync", "syscall"}, func(folder string) bool { return within(imported, folder) })
}

// clocksAndDice finds packages that tell the time or throw dice by themselves
// where both come from outside.
//
// Note: a runtime may look at the clock, since the deadlines of package net are
// instants; what a session is told comes from Config.Clock.
func clocksAndDice(p pkg) (list []string) {
	at := floor(p.path)
	if at < 0 || at >= timeless {
		return nil
	}
	clock := []string{"time.Now", "time.Since", "time.Until"}
	for _, use := range p.uses {
		dot := strings.LastIndexByte(use, '.')
		switch from, name := use[:dot], use[dot+1:]; {
		case slices.Contains(clock, use) && !within(p.path, "runtimes") && !within(p.path, "core/transport/sockets"):
			list = append(list, fmt.Sprintf("%s calls %s: below floor %d the clock comes from outside", p.path, use, timeless))
		case within(from, "math/rand") && !seeded(name):
			list = append(list, fmt.Sprintf("%s uses the global %s: below floor %d chance comes from a seed", p.path, use, timeless))
		}
	}
	return list
}

// seeded reports whether a name of math/rand has nothing to do with its global
// generator: a constructor or a type.
func seeded(name string) bool {
	return strings.HasPrefix(name, "New") || slices.Contains([]string{"Rand", "Source", "Source64", "Zipf", "PCG", "ChaCha8"}, name)
}

// shared finds modules that more than one package imports, and runtimes with
// more than one library. The owner of a module may have packages beneath it.
func shared(pkgs []pkg, modules []string) (list []string) {
	users := make(map[string][]string) // by module
	libraries := make(map[string]string)
	for _, p := range pkgs {
		for _, imported := range p.imports {
			m, foreign := moduleOf(imported, modules)
			switch {
			case !foreign || m == "golang.org/x/sys":
				continue
			case m == "":
				list = append(list, fmt.Sprintf("%s imports %s, which is of no module in go.mod", p.path, imported))
				continue
			case !slices.Contains(users[m], p.path):
				users[m] = append(users[m], p.path)
			}
			if r := runtimeOf(p.path); within(r, "runtimes") {
				if was, ok := libraries[r]; ok && was != m {
					list = append(list, fmt.Sprintf("%s imports both %s and %s: a runtime has one library", r, was, m))
				}
				libraries[r] = m
			}
		}
	}
	for _, m := range slices.Sorted(maps.Keys(users)) {
		owner := slices.MinFunc(users[m], func(a, b string) int { return len(a) - len(b) })
		for _, user := range users[m] {
			if !within(user, owner) {
				list = append(list, fmt.Sprintf("%s imports %s, which %s owns: one package owns a module", user, m, owner))
			}
		}
	}
	return list
}

// moduleOf is the module that an import is from; foreign is false for the
// standard library and this module.
func moduleOf(imported string, modules []string) (m string, foreign bool) {
	first, _, _ := strings.Cut(imported, "/")
	if !strings.Contains(first, ".") || strings.HasPrefix(imported, module) {
		return "", false
	}
	for _, candidate := range modules {
		if within(imported, candidate) && len(candidate) > len(m) {
			m = candidate
		}
	}
	return m, true
}

// load reads the packages of this module and the modules it requires.
func load(t *testing.T) (pkgs []pkg, modules []string) {
	t.Helper()
	list := json.NewDecoder(bytes.NewReader(run(t, "list", "-json=ImportPath,Dir,Name", "./...")))
	for {
		var p struct{ ImportPath, Dir, Name string }
		if err := list.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("go list: %v", err)
		}
		at, ok := strings.CutPrefix(p.ImportPath, module)
		if !ok {
			t.Fatalf("go list names %s, which is not of %s", p.ImportPath, module)
		}
		if at != "core" { // this folder, which has tests only
			pkgs = append(pkgs, read(t, at, p.Dir, p.Name))
		}
	}
	var mod struct{ Require []struct{ Path string } }
	if err := json.Unmarshal(run(t, "mod", "edit", "-json"), &mod); err != nil {
		t.Fatalf("go mod edit: %v", err)
	}
	for _, m := range mod.Require {
		modules = append(modules, m.Path)
	}
	return pkgs, modules
}

// run runs the go command at the root of the module.
func run(t *testing.T, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = ".."
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, &stderr)
	}
	return out
}

// read parses the files of a package, whatever system they are for. Those of
// another name are programs that generate it.
func read(t *testing.T, at, dir, name string) pkg {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	imports, uses := make(map[string]bool), make(map[string]bool)
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if f.Name.Name == name {
			look(f, imports, uses)
		}
	}
	return pkg{at, slices.Sorted(maps.Keys(imports)), slices.Sorted(maps.Keys(uses))}
}

// look adds what one file imports, and what it uses of the watched packages.
func look(f *ast.File, imports, uses map[string]bool) {
	names := make(map[string]string) // watched packages by their name in this file
	for _, spec := range f.Imports {
		imported, _ := strconv.Unquote(spec.Path.Value)
		imports[imported] = true
		if !slices.Contains(watched, imported) {
			continue
		}
		name := path.Base(strings.TrimSuffix(imported, "/v2"))
		if spec.Name != nil {
			name = spec.Name.Name
		}
		names[name] = imported
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && names[x.Name] != "" {
				uses[names[x.Name]+"."+s.Sel.Name] = true
			}
		}
		return true
	})
}
