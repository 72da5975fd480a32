package main

import (
	"crypto/sha256"
	"fmt"
	"strconv"
	"sync"
	"unicode/utf8"
)

// texts has what was read of each file last.
type texts []struct {
	sync.Mutex
	times int
	last  string
}

func (t texts) keep(file int, text string) {
	t[file].Lock()
	defer t[file].Unlock()
	t[file].times++
	t[file].last = text
}

func (t texts) byFile() map[string]any {
	files := map[string]any{}
	for i := range t {
		if text := &t[i]; text.times > 0 {
			files[strconv.Itoa(i)] = map[string]any{
				"times":  text.times,
				"chars":  utf8.RuneCountInString(text.last),
				"sha256": fmt.Sprintf("%x", sha256.Sum256([]byte(text.last))),
			}
		}
	}
	return files
}
