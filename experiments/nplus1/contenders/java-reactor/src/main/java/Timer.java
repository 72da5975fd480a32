import java.time.Duration;
import reactor.core.Exceptions;
import reactor.core.publisher.Flux;

/** Each is there a delay after the one before. */
record Timer(Duration delay) implements Backend {
  /** A timer cannot be asked to wait: what comes too early for its subscriber must be kept. */
  @Override
  public Flux<Long> arrivals(int count) {
    return Flux.interval(delay).onBackpressureBuffer().take(count);
  }

  @Override
  public void await() {
    try {
      Thread.sleep(delay);
    } catch (InterruptedException e) {
      throw Exceptions.propagate(e);
    }
  }
}
