// Stores records in Tkrzw's hash database, a batch at a time, in the way that its argument names.
package main

import (
	"bytes"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"runtime"

	"kumite/async-api/tkrzw"
	"kumite/kit"
)

const recordsMax = 100_000_000 // Their numbers have eight digits.

type params struct {
	Records   int
	BatchSize int `json:"batch_size"`
}

type result struct {
	Stored  int `json:"stored"`  // how many are in batches of which every status said success
	Lost    int `json:"lost"`    // how many the file does not have
	Garbled int `json:"garbled"` // how many it has that are not what was stored
}

func main() {
	name := os.Args[len(os.Args)-1]
	if name == "--version" {
		fmt.Printf("%s, Tkrzw %s\n", runtime.Version(), tkrzw.Version())
		return
	}
	model, ok := models[name]
	if !ok {
		log.Fatalf("no contender is called %q", name)
	}
	path := filepath.Join(os.Getenv("SCRATCH"), "records.tkh")
	kit.Serve(name, func(_ *kit.Job, p params) (kit.Answer, error) {
		if p.Records < 1 || p.Records > recordsMax || p.BatchSize < 1 {
			return kit.Answer{}, fmt.Errorf("records is 1 to %d, and batch_size at least 1", recordsMax)
		}
		dbm, err := tkrzw.Open(path, true, fmt.Sprintf("truncate=true,num_buckets=%d", 2*p.Records))
		if err != nil {
			return kit.Answer{}, err
		}
		batch, end := model(dbm, p.BatchSize)
		stored := store(batch, p)
		return kit.Answer{After: func() (kit.Answer, error) {
			end()
			if err := dbm.Close(); err != nil {
				return kit.Answer{}, err
			}
			return check(path, p.Records, stored)
		}}, nil
	})
}

// store ends with the first batch that has a failure.
func store(batch func(from, to int) error, p params) (stored int) {
	for stored < p.Records {
		to := min(stored+p.BatchSize, p.Records)
		if err := batch(stored, to); err != nil {
			log.Printf("records %d to %d: %v", stored, to-1, err)
			break
		}
		stored = to
	}
	return stored
}

// check reads the file: how many records it has, and 1,000 of them, the first and the last included.
func check(path string, records, stored int) (kit.Answer, error) {
	defer os.Remove(path)
	file, err := os.Stat(path)
	if err != nil {
		return kit.Answer{}, err
	}
	dbm, err := tkrzw.Open(path, false, "")
	if err != nil {
		return kit.Answer{}, err
	}
	defer dbm.Close()
	missing, wrong := 0, 0
	for _, n := range sample(records) {
		value, found := dbm.Get(digits(n))
		if !found {
			missing++
		} else if !bytes.Equal(value, digits(n)) {
			wrong++
		}
	}
	// A record that is missing in the sample is one of those that the count lacks, unless another came in its place.
	lost := max(records-dbm.Count(), missing)
	garbled := max(dbm.Count()-records, 0) + wrong
	return kit.Answer{
		Result: result{Stored: stored, Lost: lost, Garbled: garbled},
		Metrics: map[string]float64{
			"file_bytes": float64(file.Size()), "lost_records": float64(lost), "garbled_records": float64(garbled),
		},
	}, nil
}
