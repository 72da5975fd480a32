// A job brings all parameters; a struct with fields of their names takes those that are wanted. What is returned is the
// result.
package main

import "kumite/kit"

func main() {
	kit.Serve("go", func(_ *kit.Job, params map[string]any) (kit.Answer, error) {
		return kit.Answer{Result: map[string]any{"not written yet": params}}, nil
	})
}
