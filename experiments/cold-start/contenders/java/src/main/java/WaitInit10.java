/** Sleeps as long as the init phase may take: in the source 10 s. */
public final class WaitInit10 extends WaitInit {
  public WaitInit10() {
    super("wait-init-10", "SLEEP_MS");
  }
}
