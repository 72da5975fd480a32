import java.util.ArrayList;
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
record Threads(Worker.Job job, ExecutorService executor) {
  Map<String, List<Score>> fetch() throws InterruptedException, ExecutionException {
    job.event("subscribe", "students");
    Map<String, Future<List<Score>>> scores = new LinkedHashMap<>();
    for (int i = 1; i <= job.integer("students"); i++) {
      Thread.sleep(job.integer("delay_ms"));
      job.event("next", "student " + i);
      String student = String.valueOf(i);
      scores.put(student, executor.submit(() -> fetchScores(student)));
    }
    job.event("complete", "students");

    Map<String, List<Score>> result = new HashMap<>();
    for (String student : scores.keySet()) {
      result.put(student, scores.get(student).get());
    }
    return result;
  }

  private List<Score> fetchScores(String student) throws InterruptedException {
    job.event("subscribe", "student " + student);
    List<Score> scores = new ArrayList<>();
    for (Score score : Score.ALL.subList(0, job.integer("scores"))) {
      Thread.sleep(job.integer("delay_ms"));
      job.event("next", "score " + student + " " + score.subject());
      scores.add(score);
    }
    job.event("complete", "student " + student);
    return scores;
  }
}
