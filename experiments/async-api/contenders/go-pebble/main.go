// Stores records in Pebble, a store written in Go, a batch at a time, in the way that its argument names.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"

	"github.com/cockroachdb/pebble/v2"

	"kumite/kit"
)

const recordsMax = 100_000_000 // Their numbers have eight digits.

type params struct {
	Records   int
	BatchSize int `json:"batch_size"`
}

type result struct {
	Stored  int `json:"stored"`  // how many are in batches of which every status said success
	Lost    int `json:"lost"`    // how many the store does not have
	Garbled int `json:"garbled"` // how many it has that are not what was stored
}

// A model stores records [from, to) as a batch: it begins them all, then checks every status, and gives one of those
// that say failure.
type model func(db *pebble.DB, from, to int) error

var models = map[string]model{"go-pebble-sync": oneAfterAnother, "go-pebble-goroutines": goroutines}

func main() {
	name := os.Args[len(os.Args)-1]
	if name == "--version" {
		fmt.Printf("%s, Pebble %s\n", runtime.Version(), pebbleVersion())
		return
	}
	model, ok := models[name]
	if !ok {
		log.Fatalf("no contender is called %q", name)
	}
	folder := filepath.Join(os.Getenv("SCRATCH"), "records")
	kit.Serve(name, func(_ *kit.Job, p params) (kit.Answer, error) {
		if p.Records < 1 || p.Records > recordsMax || p.BatchSize < 1 {
			return kit.Answer{}, fmt.Errorf("records is 1 to %d, and batch_size at least 1", recordsMax)
		}
		db, err := open(folder)
		if err != nil {
			return kit.Answer{}, err
		}
		stored := store(db, p, model)
		return kit.Answer{After: func() (kit.Answer, error) { return check(db, folder, p.Records, stored) }}, nil
	})
}

func oneAfterAnother(db *pebble.DB, from, to int) (failure error) {
	for n := from; n < to; n++ {
		if err := set(db, n); err != nil {
			failure = err
		}
	}
	return failure
}

// A goroutine and an unbuffered channel for each record.
func goroutines(db *pebble.DB, from, to int) (failure error) {
	statuses := make([]chan error, 0, to-from)
	for n := from; n < to; n++ {
		status := make(chan error)
		go func() { status <- set(db, n) }()
		statuses = append(statuses, status)
	}
	for _, status := range statuses {
		if err := <-status; err != nil {
			failure = err
		}
	}
	return failure
}

// set does not wait for the disk.
func set(db *pebble.DB, n int) error {
	key := digits(n)
	return db.Set(key, key, pebble.NoSync)
}

// open makes an empty store. It sets what Pebble's own benchmark sets, and CockroachDB.
func open(folder string) (*pebble.DB, error) {
	if err := os.RemoveAll(folder); err != nil {
		return nil, err
	}
	return pebble.Open(folder, &pebble.Options{
		FormatMajorVersion:          pebble.FormatNewest,
		L0CompactionThreshold:       2,
		L0StopWritesThreshold:       1000,
		Logger:                      quiet{pebble.DefaultLogger},
		MemTableSize:                64 << 20,
		MemTableStopWritesThreshold: 4,
	})
}

// store ends with the first batch that has a failure.
func store(db *pebble.DB, p params, model model) (stored int) {
	for stored < p.Records {
		to := min(stored+p.BatchSize, p.Records)
		if err := model(db, stored, to); err != nil {
			log.Printf("records %d to %d: %v", stored, to-1, err)
			break
		}
		stored = to
	}
	return stored
}

// check counts all records and looks at 1,000 of them, the first and the last included; then it closes the store.
func check(db *pebble.DB, folder string, records, stored int) (kit.Answer, error) {
	missing, wrong := 0, 0
	for _, n := range sample(records) {
		value, closer, err := db.Get(digits(n))
		if err != nil {
			missing++
			continue
		}
		if !bytes.Equal(value, digits(n)) {
			wrong++
		}
		closer.Close()
	}
	count, err := countOf(db)
	if err := errors.Join(err, db.Close()); err != nil {
		return kit.Answer{}, err
	}
	size, err := sizeOf(folder)
	if err != nil {
		return kit.Answer{}, err
	}
	// A record that is missing in the sample is one of those that the count lacks, unless another came in its place.
	lost := max(records-count, missing)
	garbled := max(count-records, 0) + wrong
	return kit.Answer{
		Result: result{Stored: stored, Lost: lost, Garbled: garbled},
		Metrics: map[string]float64{
			"file_bytes": float64(size), "lost_records": float64(lost), "garbled_records": float64(garbled),
		},
	}, os.RemoveAll(folder)
}

// countOf goes through all records, for Pebble keeps no count.
func countOf(db *pebble.DB) (count int, err error) {
	all, err := db.NewIter(nil)
	if err != nil {
		return 0, err
	}
	for all.First(); all.Valid(); all.Next() {
		count++
	}
	return count, all.Close()
}

func sizeOf(folder string) (size int64, err error) {
	err = filepath.WalkDir(folder, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		file, err := entry.Info()
		if err == nil {
			size += file.Size()
		}
		return err
	})
	return size, err
}

// quiet leaves out what is said of each file.
type quiet struct{ pebble.Logger }

func (quiet) Infof(string, ...any) {}

func pebbleVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, dependency := range info.Deps {
			if dependency.Path == "github.com/cockroachdb/pebble/v2" {
				return dependency.Version
			}
		}
	}
	return "of an unknown version"
}
