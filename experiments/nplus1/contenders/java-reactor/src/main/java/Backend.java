import java.time.Duration;
import kumite.Worker;
import reactor.core.publisher.Flux;

/** What makes students and scores arrive, one after another. */
interface Backend {
  /** So many, numbered from 0, without blocking a thread. */
  Flux<Long> arrivals(int count);

  /** Blocks the thread until the next one is there. */
  void await();

  static Backend of(Worker.Job job) {
    return switch ((String) job.params.get("backend")) {
      case "timer" -> new Timer(Duration.ofMillis(job.integer("delay_ms")));
      case "http" -> new Http();
      case String other -> throw new IllegalArgumentException("there is no backend " + other);
    };
  }
}
