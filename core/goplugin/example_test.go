package goplugin_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/netmatrix/netmatrix/core/control"
	"github.com/netmatrix/netmatrix/core/goplugin"
)

// A plugin's main serves a control.Plugin, which agent.New makes of a runtime,
// and does nothing else.
func ExampleServe() {
	var p control.Plugin
	goplugin.Serve(p)
}

// A driver makes one Host for its run and starts every plugin with it.
func ExampleHost_Start() {
	host, err := goplugin.NewHost("")
	if err != nil {
		log.Fatal(err)
	}
	defer host.Close()

	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	p, err := host.Start(ctx, goplugin.Command{Name: "rawpoll", Path: "bin/plugins/rawpoll", GOMAXPROCS: 1})
	if err != nil {
		log.Fatal(err)
	}
	defer p.Kill()
	d, err := p.Describe(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(d.Info.Name, d.Protocols)
}
