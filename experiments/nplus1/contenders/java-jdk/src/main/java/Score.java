import java.util.List;

/** What a student has in a subject. */
record Score(String subject, int score) {
  static final List<Score> ALL =
      List.of(
          new Score("国語", 80),
          new Score("数学", 90),
          new Score("英語", 85),
          new Score("社会", 93),
          new Score("理科", 72));
}
