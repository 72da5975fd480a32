/** Sleeps a fifth of that: in the source 2 s. */
public final class WaitInit2 extends WaitInit {
  public WaitInit2() {
    super("wait-init-2", "SHORT_SLEEP_MS");
  }
}
