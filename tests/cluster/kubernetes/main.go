// The parts of Kubernetes that a cluster on one machine needs, in one program, for one link takes less time than five:
// `kubernetes PART ARGUMENT…`. kubernetes-made.sh builds it.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"k8s.io/component-base/cli"
	kubectl "k8s.io/kubectl/pkg/cmd"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllers "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
)

var parts = map[string]func() *cobra.Command{
	"kube-apiserver":          apiserver.NewAPIServerCommand,
	"kube-controller-manager": controllers.NewControllerManagerCommand,
	"kube-scheduler":          func() *cobra.Command { return scheduler.NewSchedulerCommand() },
	"kubectl":                 kubectl.NewDefaultKubectlCommand,
	"kubelet":                 func() *cobra.Command { return kubelet.NewKubeletCommand(context.Background()) },
}

func main() {
	// A part reads the program's arguments itself, and its name is the first of them.
	if os.Args = os.Args[1:]; len(os.Args) == 0 || parts[os.Args[0]] == nil {
		fmt.Fprintln(os.Stderr, "kubernetes PART ARGUMENT…: no such part")
		os.Exit(2)
	}
	os.Exit(cli.Run(parts[os.Args[0]]()))
}
