package driver

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"io"
	"os"
)

// Build is what the toolchain wrote into an executable. It is empty for one
// that Go did not build.
type Build struct {
	GoVersion string
	Modules   map[string]string // path → version
	Settings  map[string]string
}

func readBuild(path string) Build {
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return Build{}
	}
	b := Build{GoVersion: info.GoVersion, Modules: make(map[string]string), Settings: make(map[string]string)}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		b.Modules[m.Path] = m.Version
	}
	for _, s := range info.Settings {
		b.Settings[s.Key] = s.Value
	}
	return b
}

// unknownHash stands for an executable that cannot be read.
const unknownHash = "unknown"

func hashFile(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return unknownHash
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return unknownHash
	}
	return hex.EncodeToString(h.Sum(nil))
}

func ownHash() string {
	path, err := os.Executable()
	if err != nil {
		return unknownHash
	}
	return hashFile(path)
}
