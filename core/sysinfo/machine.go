package sysinfo

// Facts describe the machine a run took place on. What is unknown is nil or
// empty; Warnings says what should have been known and why it is not.
type Facts struct {
	Model         string   `json:"model,omitempty"` // of the whole machine
	CPU           string   `json:"cpu,omitempty"`
	Architecture  string   `json:"architecture"` // GOARCH
	PhysicalCores *int     `json:"physical_cores"`
	LogicalCores  *int     `json:"logical_cores"`
	MemoryBytes   *int64   `json:"memory_bytes"`
	OS            string   `json:"os,omitempty"` // name, version and build
	Kernel        string   `json:"kernel,omitempty"`
	Power         string   `json:"power,omitempty"`      // ac or battery
	Governor      string   `json:"governor,omitempty"`   // of all CPUs, distinct ones joined by a comma
	Hypervisor    string   `json:"hypervisor,omitempty"` // its name, or "unnamed"
	CI            string   `json:"ci,omitempty"`         // which service runs this
	CPUQuota      *float64 `json:"cpu_quota"`            // CPUs that the control group grants; nil: no limit known
	AllowedCPUs   []int    `json:"allowed_cpus"`
	Siblings      [][]int  `json:"siblings,omitempty"` // CPUs that share a core, group by group
	// IRQTimeAccounting: the kernel keeps the time of interrupts out of the
	// CPU time of the process they happened to interrupt.
	IRQTimeAccounting *bool    `json:"irq_time_accounting"`
	Settings          Settings `json:"settings,omitzero"`
	Warnings          []string `json:"warnings,omitempty"`
}

// services are the environment variables by which CI services show themselves.
// The last is what most others set.
var services = []struct{ variable, name string }{
	{"GITHUB_ACTIONS", "github actions"},
	{"GITLAB_CI", "gitlab"},
	{"CIRCLECI", "circleci"},
	{"JENKINS_URL", "jenkins"},
	{"BUILDKITE", "buildkite"},
	{"CI", "yes"},
}

// ciService names the CI service whose environment env looks up, if any.
func ciService(env func(string) string) string {
	for _, s := range services {
		if v := env(s.variable); v != "" && v != "false" {
			return s.name
		}
	}
	return ""
}

// warn adds what went wrong with one fact; the run goes on without it.
func (f *Facts) warn(err error) {
	if err != nil {
		f.Warnings = append(f.Warnings, err.Error())
	}
}
