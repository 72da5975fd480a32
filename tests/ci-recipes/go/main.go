package main

import "fmt"

func main() {
	x := uint32(1)
	for i := 0; i < ROUNDS; i++ {
		x ^= x << 13
		x ^= x >> 17
		x ^= x << 5
	}
	fmt.Println(x)
}
