import java.time.Duration;
import java.util.List;
import reactor.core.Exceptions;
import reactor.core.publisher.Flux;

/**
 * Students and scores, each a delay after the one before: by a timer, or by a thread that sleeps.
 */
record Sources(int students, int scores, Duration delay) {
  private static final List<Score> SCORES =
      List.of(
          new Score("国語", 80),
          new Score("数学", 90),
          new Score("英語", 85),
          new Score("社会", 93),
          new Score("理科", 72));

  Flux<String> timedStudents() {
    return ticks().take(students).map(tick -> String.valueOf(tick + 1));
  }

  Flux<Score> timedScores() {
    return ticks().take(scores).map(tick -> SCORES.get(tick.intValue()));
  }

  /** A timer cannot be asked to wait: what comes too early for its subscriber must be kept. */
  private Flux<Long> ticks() {
    return Flux.interval(delay).onBackpressureBuffer();
  }

  Flux<String> sleepingStudents() {
    return Flux.range(1, students).doOnNext(student -> sleep()).map(String::valueOf);
  }

  Flux<Score> sleepingScores() {
    return Flux.fromIterable(SCORES).take(scores).doOnNext(score -> sleep());
  }

  private void sleep() {
    try {
      Thread.sleep(delay);
    } catch (InterruptedException e) {
      throw Exceptions.propagate(e);
    }
  }
}
