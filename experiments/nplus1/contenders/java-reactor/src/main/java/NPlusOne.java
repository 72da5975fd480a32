import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import kumite.Worker;
import reactor.core.publisher.Flux;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.netty.http.client.HttpClient;

/**
 * All students with all their scores, put together by Project Reactor in the ways of the source.
 */
record NPlusOne(Worker.Job job, Sources sources) {
  public static void main(String[] args) throws IOException {
    if (args[0].equals("--version")) {
      String reactor = Flux.class.getPackage().getImplementationVersion();
      String netty = HttpClient.class.getPackage().getImplementationVersion();
      System.out.printf(
          "Reactor %s, Reactor Netty %s, Java %s%n", reactor, netty, Runtime.version());
      return;
    }

    Worker.serve(
        args[0],
        job -> {
          var sources =
              new Sources(job.integer("students"), job.integer("scores"), Backend.of(job));
          return new NPlusOne(job, sources).fetch(args[0]);
        });
  }

  private Map<String, List<Score>> fetch(String way) throws InterruptedException {
    return switch (way) {
      case "reactor-subscribe" -> subscribe();
      case "reactor-nonblocking" -> collect(sources.students(), student -> sources.scores());
      case "reactor-single" ->
          collect(
              onSingle(sources.students(), "students"),
              student -> onSingle(sources.scores(), "student " + student));
      case "reactor-blocking" ->
          collect(sources.blockingStudents(), student -> sources.blockingScores());
      case "reactor-elastic", "reactor-elastic-virtual" -> collectOn(Schedulers.boundedElastic());
      case "reactor-parallel", "reactor-parallel-default" -> collectOn(Schedulers.parallel());
      default -> throw new IllegalArgumentException("there is no way " + way);
    };
  }

  private Map<String, List<Score>> collect(
      Flux<String> students, Function<String, Flux<Score>> scores) {
    return watchStudents(students)
        .flatMap(
            student ->
                watchScores(scores.apply(student), student)
                    .collectList()
                    .map(list -> Map.entry(student, list)))
        .collectMap(Map.Entry::getKey, Map.Entry::getValue)
        .block();
  }

  private Map<String, List<Score>> collectOn(Scheduler scheduler) {
    return collect(
        sources.blockingStudents().subscribeOn(scheduler),
        student -> sources.blockingScores().subscribeOn(scheduler));
  }

  private <T> Flux<T> onSingle(Flux<T> flux, String id) {
    return flux.doOnNext(item -> job.event("tick", id)).publishOn(Schedulers.single());
  }

  /** The beginner's bug: nobody waits for the end, and any thread writes to the map. */
  private Map<String, List<Score>> subscribe() throws InterruptedException {
    Map<String, List<Score>> map = new HashMap<>();
    var subscription =
        watchStudents(sources.students())
            .subscribe(
                student ->
                    watchScores(sources.scores(), student)
                        .subscribe(
                            score ->
                                map.computeIfAbsent(student, key -> new ArrayList<>()).add(score)));
    Thread.sleep(Duration.ofMillis(job.integer("delay_ms")).multipliedBy(20));

    // What is late still comes: not far into the next job, and not into the answer while it is
    // written. An iterator would notice it and throw.
    subscription.dispose();
    Map<String, List<Score>> found = new HashMap<>();
    for (int i = 1; i <= sources.studentCount(); i++) {
      List<Score> scores = map.get(String.valueOf(i));
      if (scores != null) {
        found.put(String.valueOf(i), new ArrayList<>(scores));
      }
    }
    return found;
  }

  private Flux<String> watchStudents(Flux<String> students) {
    return watch(students, "students", student -> "student " + student);
  }

  private Flux<Score> watchScores(Flux<Score> scores, String student) {
    return watch(scores, "student " + student, score -> "score " + student + " " + score.subject());
  }

  /** What {@code log()} would print, for the timeline. */
  private <T> Flux<T> watch(Flux<T> flux, String id, Function<T, String> itemId) {
    return flux.doOnSubscribe(subscription -> job.event("subscribe", id))
        .doOnNext(item -> job.event("next", itemId.apply(item)))
        .doOnComplete(() -> job.event("complete", id));
  }
}
