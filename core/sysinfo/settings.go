package sysinfo

// Settings are what somebody has set the machine to, or left as it came, and
// may set otherwise. What is unknown is nil or empty.
type Settings struct {
	FrequencyDriver string `json:"frequency_driver,omitempty"` // the kernel's, of the CPUs' frequency
	// Boost: CPUs may run above the frequency that they can keep up.
	Boost        *bool    `json:"boost"`
	ClockSource  string   `json:"clock_source,omitempty"`
	ClockSources []string `json:"clock_sources,omitempty"`         // those to choose from
	HugePages    string   `json:"transparent_hugepages,omitempty"` // always, madvise or never
	// Mitigations are the kernel's words on each flaw of the CPU that it does
	// something about.
	Mitigations map[string]string `json:"mitigations,omitempty"`
	// TimerSlackNanos is by how much the kernel may let this process, and those
	// it starts, oversleep.
	TimerSlackNanos *int64 `json:"timer_slack_nanos"`
	// Sysctl holds the numbers of the kernel's settings that limit sockets, by
	// their names for sysctl(8).
	Sysctl map[string][]int64 `json:"sysctl,omitempty"`
}

// The keys of Settings.Sysctl, each with what its numbers are.
const (
	ReceiveBufferMax = "net.core.rmem_max"            // bytes that a socket may ask for
	SendBufferMax    = "net.core.wmem_max"            // likewise
	ListenBacklog    = "net.core.somaxconn"           // connections waiting to be accepted
	PortRange        = "net.ipv4.ip_local_port_range" // first and last port of outgoing connections
	TCPReceive       = "net.ipv4.tcp_rmem"            // least, default and largest buffer, bytes
	TCPSend          = "net.ipv4.tcp_wmem"            // likewise
)
