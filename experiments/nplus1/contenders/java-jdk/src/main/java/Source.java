import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import kumite.Worker;

/** Students and scores for a thread that waits for them. */
record Source(Worker.Job job, Backend students) {
  String awaitStudent(int number) throws IOException, InterruptedException {
    students.await();
    job.event("next", "student " + number);
    return String.valueOf(number);
  }

  List<Score> awaitScores(String student) throws IOException, InterruptedException {
    job.event("subscribe", "student " + student);
    Backend arrivals = Backend.of(job);
    List<Score> scores = new ArrayList<>();
    for (Score score : Score.ALL.subList(0, job.integer("scores"))) {
      arrivals.await();
      job.event("next", "score " + student + " " + score.subject());
      scores.add(score);
    }
    job.event("complete", "student " + student);
    return scores;
  }
}
