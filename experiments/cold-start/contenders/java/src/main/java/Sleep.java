/** Sleeps for as long as the environment says. */
final class Sleep {
  static void of(String milliseconds) {
    try {
      Thread.sleep(Long.parseLong(System.getenv(milliseconds)));
    } catch (InterruptedException e) {
      throw new IllegalStateException("nobody interrupts a function", e);
    }
  }

  private Sleep() {}
}
