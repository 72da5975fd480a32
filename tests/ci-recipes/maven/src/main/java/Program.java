public class Program {
  public static void main(String[] arguments) {
    int x = 1;
    for (long i = 0; i < ROUNDS; i++) {
      x ^= x << 13;
      x ^= x >>> 17;
      x ^= x << 5;
    }
    System.out.println(x);
  }
}
