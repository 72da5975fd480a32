// Answers every request. Parameters of the workload are what the load asks with.
package main

import (
	"fmt"
	"log"
	"net/http"
	"os"
)

func main() {
	handler := func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "not written yet")
	}
	log.Fatal(http.ListenAndServe(os.Getenv("HOST")+":"+os.Getenv("PORT"), http.HandlerFunc(handler)))
}
