import static java.util.concurrent.TimeUnit.NANOSECONDS;

import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;

/** Each state but the first is a task of an executor with one thread, and all are handed over at the start. */
final class Scheduled implements Player.Way, AutoCloseable {
  private final ScheduledExecutorService executor = Executors.newSingleThreadScheduledExecutor();

  @Override
  public void play(List<Player.State> states) throws Exception {
    long start = System.nanoTime();
    // The first one is due now; the executor's thread would have to wake for it.
    write(states.getFirst());
    Future<?> last = null;
    for (Player.State state : states.subList(1, states.size())) {
      long delay = start + state.offset() - System.nanoTime();
      last = executor.schedule(() -> write(state), delay, NANOSECONDS);
    }
    if (last != null) {
      last.get();
    }
  }

  private static Void write(Player.State state) throws Exception {
    Player.OUT.write(state.line());
    return null;
  }

  @Override
  public void close() {
    executor.close();
  }
}
