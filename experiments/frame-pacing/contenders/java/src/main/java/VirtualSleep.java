import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executors;

/** A virtual thread for each play, which sleeps from state to state. */
final class VirtualSleep implements Player.Way {
  @Override
  public void play(List<Player.State> states) throws Exception {
    try (var executor = Executors.newVirtualThreadPerTaskExecutor()) {
      executor.submit(() -> write(states)).get();
    }
  }

  private static Void write(List<Player.State> states) throws InterruptedException, IOException {
    long start = System.nanoTime();
    for (Player.State state : states) {
      Thread.sleep(Duration.ofNanos(start + state.offset() - System.nanoTime()));
      Player.OUT.write(state.line());
    }
    return null;
  }
}
