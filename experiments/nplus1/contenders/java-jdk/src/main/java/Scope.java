import java.io.IOException;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.StructuredTaskScope;
import java.util.concurrent.StructuredTaskScope.Joiner;
import java.util.concurrent.StructuredTaskScope.Subtask;
import java.util.concurrent.ThreadFactory;
import kumite.Worker;

/** Subtasks of a scope, a virtual thread each: none outlives it, and one that fails ends all. */
record Scope(Worker.Job job, Source source, ThreadFactory factory) {
  Map<String, List<Score>> fetch() throws IOException, InterruptedException {
    Map<String, Subtask<List<Score>>> scores = new LinkedHashMap<>();
    Joiner<List<Score>, Void> joiner = Joiner.awaitAllSuccessfulOrThrow();
    try (var scope = StructuredTaskScope.open(joiner, it -> it.withThreadFactory(factory))) {
      job.event("subscribe", "students");
      for (int i = 1; i <= job.integer("students"); i++) {
        String student = source.awaitStudent(i);
        scores.put(student, scope.fork(() -> source.awaitScores(student)));
      }
      job.event("complete", "students");
      scope.join();
    }

    Map<String, List<Score>> result = new HashMap<>();
    scores.forEach((student, subtask) -> result.put(student, subtask.get()));
    return result;
  }
}
