package core_test

import (
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"strings"
	"testing"
)

// Each rule finds what breaks it, and nothing else.
func TestRulesOfArchitecture(t *testing.T) {
	modules := []string{"golang.org/x/sys", "golang.org/x/net", "example.org/lib", "example.org/lib/v2"}
	of := func(path string, imports ...string) pkg { return pkg{path: path, imports: imports} }
	using := func(path string, uses ...string) pkg { return pkg{path: path, uses: uses} }
	for name, tc := range map[string]struct {
		pkgs []pkg
		want string // "": all is well
	}{
		"no packages":             {nil, "there are no packages"},
		"down":                    {[]pkg{of("core/load", module+"core/message", "fmt")}, ""},
		"same floor":              {[]pkg{of("core/load", module+"core/control")}, ""},
		"up":                      {[]pkg{of("core/hist", module+"core/record")}, "core/hist (floor 0) imports core/record (floor 2)"},
		"no floor":                {[]pkg{of("core/utils")}, "core/utils stands on no floor"},
		"like a folder of ours":   {[]pkg{of("core/loader")}, "core/loader stands on no floor"},
		"beneath":                 {[]pkg{of("core/protocol/websocket", module+"core/protocol")}, ""},
		"core knows a runtime":    {[]pkg{of("core/agent", module+"runtimes/rawpoll")}, "core knows no runtime"},
		"core knows a command":    {[]pkg{of("core/driver", module+"cmd/netmatrix")}, "core knows no runtime, plugin or command"},
		"runtime":                 {[]pkg{of("runtimes/a", module+"core/transport", module+"runtimes/a/inner", "net", "example.org/lib")}, ""},
		"runtime knows more":      {[]pkg{of("runtimes/a", module+"core/protocol")}, "a runtime imports core/transport"},
		"runtime knows another":   {[]pkg{of("runtimes/a/inner", module+"runtimes/b")}, "a runtime imports core/transport"},
		"runtime's two libraries": {[]pkg{of("runtimes/a", "example.org/lib"), of("runtimes/a/inner", "golang.org/x/net")}, "a runtime has one library"},
		"codec":                   {[]pkg{of("core/protocol/http", "bytes", "errors", "encoding/binary", "crypto/sha1")}, ""},
		"codec with sockets":      {[]pkg{of("core/protocol/http", "net/http")}, "a codec does no IO"},
		"codec with a lock":       {[]pkg{of("core/protocol", "sync/atomic")}, "a codec does no IO"},
		"codec with time":         {[]pkg{of("core/protocol/http", "time")}, "a codec does no IO"},
		"tls names net and time":  {[]pkg{of("core/protocol/tlslayer", "crypto/tls", "net", "time")}, ""},
		"tls with a lock":         {[]pkg{of("core/protocol/tlslayer", "sync")}, "a codec does no IO"},
		"clock":                   {[]pkg{using("core/sysinfo", "time.Now")}, "core/sysinfo calls time.Now"},
		"clock, in other words":   {[]pkg{using("core/load", "time.Since")}, "core/load calls time.Since"},
		"only durations":          {[]pkg{using("core/matrix", "time.Duration", "time.ParseDuration")}, ""},
		"clock of a runtime":      {[]pkg{using("runtimes/a", "time.Now", "time.Until")}, ""},
		"clock above":             {[]pkg{using("core/agent", "time.Now", "math/rand/v2.IntN")}, ""},
		"global dice":             {[]pkg{using("core/matrix", "math/rand/v2.Shuffle")}, "core/matrix uses the global math/rand/v2.Shuffle"},
		"global dice, old":        {[]pkg{using("runtimes/a", "math/rand.Intn")}, "runtimes/a uses the global math/rand.Intn"},
		"seeded dice":             {[]pkg{using("core/message", "math/rand/v2.New", "math/rand/v2.NewPCG", "math/rand/v2.Rand")}, ""},
		"owned with a package":    {[]pkg{of("core/goplugin", "example.org/lib/a"), of("core/goplugin/proto", "example.org/lib/b")}, ""},
		"owned twice":             {[]pkg{of("core/hist", "example.org/lib/a"), of("core/matrix", "example.org/lib/b")}, "core/matrix imports example.org/lib, which core/hist owns"},
		"two major versions":      {[]pkg{of("core/hist", "example.org/lib/a"), of("core/matrix", "example.org/lib/v2/b")}, ""},
		"x/sys is everyone's":     {[]pkg{of("core/sysinfo", "golang.org/x/sys/unix"), of("runtimes/a", "golang.org/x/sys/unix", "example.org/lib")}, ""},
		"not in go.mod":           {[]pkg{of("core/hist", "example.org/other")}, "which is of no module in go.mod"},
	} {
		t.Run(name, func(t *testing.T) {
			got := faults(tc.pkgs, modules)
			found := slices.ContainsFunc(got, func(fault string) bool { return strings.Contains(fault, tc.want) })
			if tc.want == "" && len(got) > 0 || tc.want != "" && !found {
				t.Errorf("faults %q, want %q", got, tc.want)
			}
		})
	}
}

// What a file calls a package does not matter.
func TestUsesAreFoundByImportPath(t *testing.T) {
	const source = `package p

import (
	clock "time"
	"math/rand/v2"
	old "math/rand"
	time "example.org/time"
)

var _ = []any{clock.Now(), rand.IntN(5), old.Perm, time.Now(), clock.Second}
`
	f, err := parser.ParseFile(token.NewFileSet(), "p.go", source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	imports, uses := make(map[string]bool), make(map[string]bool)
	look(f, imports, uses)
	if got, want := slices.Sorted(maps.Keys(uses)), []string{"math/rand.Perm", "math/rand/v2.IntN", "time.Now", "time.Second"}; !slices.Equal(got, want) {
		t.Errorf("uses %q, want %q", got, want)
	}
	if got, want := slices.Sorted(maps.Keys(imports)), []string{"example.org/time", "math/rand", "math/rand/v2", "time"}; !slices.Equal(got, want) {
		t.Errorf("imports %q, want %q", got, want)
	}
}
