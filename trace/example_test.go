package trace_test

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strings"

	"github.com/golops/golops/trace"
)

// A library function with a region costs nothing until its caller records.
func solve(ctx context.Context) {
	reg := trace.Begin(ctx, "solve")
	defer reg.End()
	reg.Mark("Begin dot")
	// ... the work ...
	reg.Mark("Finish dot")
}

func Example() {
	rec := trace.NewRecorder(0)
	ctx := trace.With(context.Background(), rec)
	solve(ctx)
	rec.Close()

	var tree strings.Builder
	if err := trace.WriteTree(&tree, []trace.Track{rec.Events()}, true); err != nil {
		fmt.Println(err)
	}
	digits := regexp.MustCompile(`[0-9]\.[0-9]+`) // times differ from run to run
	fmt.Print(digits.ReplaceAllStringFunc(tree.String(), func(s string) string { return "0." + strings.Repeat("#", len(s)-2) }))
	// Output:
	// rank 0                                calls   s per call
	// solve: 0.###### s                         1  0.#########
	//   (start)-->Begin dot: 0.###### s         1  0.#########
	//   Begin dot-->Finish dot: 0.###### s      1  0.#########
	//   Finish dot-->(end): 0.###### s          1  0.#########
}

func ExampleWriteChrome() {
	tracks := []trace.Track{{Rank: 0, Events: []trace.Event{{Name: "solve", Parent: -1, Start: 2000, End: 5500}}}}
	if err := trace.WriteChrome(os.Stdout, tracks); err != nil {
		fmt.Println(err)
	}
	// Output:
	// {"traceEvents":[
	// {"name":"process_name","ph":"M","pid":1,"args":{"name":"golops"}},
	// {"name":"thread_name","ph":"M","pid":1,"tid":1,"args":{"name":"rank 0"}},
	// {"name":"thread_sort_index","ph":"M","pid":1,"tid":1,"args":{"sort_index":0}},
	// {"name":"solve","ph":"X","pid":1,"tid":1,"ts":2.000,"dur":3.500}
	// ],"displayTimeUnit":"ns","otherData":{"ranks":1,"dropped":0}}
}
