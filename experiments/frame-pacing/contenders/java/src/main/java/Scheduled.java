import static java.util.concurrent.TimeUnit.NANOSECONDS;

import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;

/** Each state is a task of an executor with one thread, which gets it when the last one is done. */
final class Scheduled implements Player.Way, AutoCloseable {
  private final ScheduledExecutorService executor = Executors.newSingleThreadScheduledExecutor();

  @Override
  public void play(List<Player.State> states) throws Exception {
    long start = System.nanoTime();
    // The first one is due at once: the executor's thread would have to wake for it.
    write(states.getFirst());
    for (Player.State state : states.subList(1, states.size())) {
      long delay = start + state.offset() - System.nanoTime();
      executor.schedule(() -> write(state), delay, NANOSECONDS).get();
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
