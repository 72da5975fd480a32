import java.util.List;
import reactor.core.publisher.Flux;

/** Students and scores as they arrive: for who does not block, and for who does. */
record Sources(int studentCount, int scoreCount, Backend backend) {
  private static final List<Score> SCORES =
      List.of(
          new Score("国語", 80),
          new Score("数学", 90),
          new Score("英語", 85),
          new Score("社会", 93),
          new Score("理科", 72));

  Flux<String> students() {
    return backend.arrivals(studentCount).map(n -> String.valueOf(n + 1));
  }

  Flux<Score> scores() {
    return backend.arrivals(scoreCount).map(n -> SCORES.get(n.intValue()));
  }

  Flux<String> blockingStudents() {
    return Flux.range(1, studentCount).doOnNext(student -> backend.await()).map(String::valueOf);
  }

  Flux<Score> blockingScores() {
    return Flux.fromIterable(SCORES).take(scoreCount).doOnNext(score -> backend.await());
  }
}
