/** Milliseconds since this class was loaded, on a clock that no one sets. */
final class SinceLoad {
  private static final long LOADED_NS = System.nanoTime();

  static double ms() {
    return (System.nanoTime() - LOADED_NS) / 1e6;
  }

  static void print(String what) {
    System.out.println(what + ": " + Math.round(ms()) + " ms");
  }

  private SinceLoad() {}
}
