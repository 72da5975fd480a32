import static java.util.concurrent.TimeUnit.NANOSECONDS;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import kumite.Worker;

/** Each is due a multiple of the delay after the beginning, so that late timers do not add up. */
final class Timer implements Backend {
  private final Worker.Job job;
  private final long delayNs;
  private long dueNs = System.nanoTime();

  Timer(Worker.Job job, Duration delay) {
    this.job = job;
    this.delayNs = delay.toNanos();
  }

  @Override
  public void await() throws InterruptedException {
    NANOSECONDS.sleep(untilNextNs());
  }

  /** The JDK's timer thread only hands over to the executor. */
  @Override
  public CompletableFuture<Void> arrival(String id, Executor executor) {
    Executor later =
        CompletableFuture.delayedExecutor(
            untilNextNs(),
            NANOSECONDS,
            task -> {
              job.event("tick", id);
              executor.execute(task);
            });
    return CompletableFuture.runAsync(() -> {}, later);
  }

  private long untilNextNs() {
    dueNs += delayNs;
    return dueNs - System.nanoTime();
  }
}
