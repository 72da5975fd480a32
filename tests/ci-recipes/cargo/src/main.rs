fn main() {
    let mut x: u32 = 1;
    for _ in 0..ROUNDS {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
    }
    println!("{x}");
}
