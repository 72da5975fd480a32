#include <stdint.h>
#include <stdio.h>

int main(void) {
    uint32_t x = 1;
    for (long i = 0; i < ROUNDS; i++) {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
    }
    printf("%u\n", x);
}
