import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import kumite.Worker;

/** Futures that follow one another: none of the executor's threads ever waits. */
record Futures(Worker.Job job, Backend students, Executor executor) {
  Map<String, List<Score>> fetch() {
    job.event("subscribe", "students");
    Map<String, CompletableFuture<List<Score>>> scores = new LinkedHashMap<>();
    CompletableFuture<Void> arrival = CompletableFuture.completedFuture(null);
    for (int i = 1; i <= job.integer("students"); i++) {
      String student = String.valueOf(i);
      arrival =
          arrival
              .thenCompose(before -> students.arrival("students", executor))
              .thenRun(() -> job.event("next", "student " + student));
      scores.put(student, arrival.thenCompose(arrived -> fetchScores(student)));
    }
    arrival.thenRun(() -> job.event("complete", "students"));

    Map<String, List<Score>> result = new HashMap<>();
    scores.forEach((student, future) -> result.put(student, future.join()));
    return result;
  }

  private CompletableFuture<List<Score>> fetchScores(String student) {
    job.event("subscribe", "student " + student);
    Backend arrivals = Backend.of(job);
    CompletableFuture<List<Score>> scores = CompletableFuture.completedFuture(new ArrayList<>());
    for (Score score : Score.ALL.subList(0, job.integer("scores"))) {
      scores =
          scores.thenCompose(
              list ->
                  arrivals
                      .arrival("student " + student, executor)
                      .thenApply(
                          after -> {
                            job.event("next", "score " + student + " " + score.subject());
                            list.add(score);
                            return list;
                          }));
    }
    return scores.whenComplete((list, e) -> job.event("complete", "student " + student));
  }
}
