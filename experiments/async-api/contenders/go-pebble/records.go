package main

// digits is the key and the value of a record: its number in eight digits.
func digits(n int) []byte {
	text := make([]byte, 8)
	for i := len(text) - 1; i >= 0; i-- {
		text[i] = '0' + byte(n%10)
		n /= 10
	}
	return text
}

// sample gives up to 1,000 records, evenly spread, the first and the last included.
func sample(records int) []int {
	numbers := make([]int, min(records, 1000))
	for i := range numbers {
		numbers[i] = i * (records - 1) / max(len(numbers)-1, 1)
	}
	return numbers
}
