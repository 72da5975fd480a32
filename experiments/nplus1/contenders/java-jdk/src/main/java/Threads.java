import java.io.IOException;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import kumite.Worker;

/**
 * Threads that wait: the main one for students, one of the executor's for each student's scores.
 */
record Threads(Worker.Job job, Source source, ExecutorService executor) {
  Map<String, List<Score>> fetch() throws IOException, InterruptedException, ExecutionException {
    job.event("subscribe", "students");
    Map<String, Future<List<Score>>> scores = new LinkedHashMap<>();
    for (int i = 1; i <= job.integer("students"); i++) {
      String student = source.awaitStudent(i);
      scores.put(student, executor.submit(() -> source.awaitScores(student)));
    }
    job.event("complete", "students");

    Map<String, List<Score>> result = new HashMap<>();
    for (String student : scores.keySet()) {
      result.put(student, scores.get(student).get());
    }
    return result;
  }
}
