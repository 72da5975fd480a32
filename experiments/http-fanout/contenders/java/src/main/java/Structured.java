import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.StructuredTaskScope;
import java.util.concurrent.StructuredTaskScope.Joiner;
import java.util.concurrent.StructuredTaskScope.Subtask;

/** By a scope, whose subtasks are virtual threads: if one fails, all others are ended. */
record Structured(Callable<String> get) implements Blocking {
  @Override
  public <T> List<T> all(int times, Callable<T> task) throws Exception {
    try (var scope = StructuredTaskScope.open(Joiner.<T>allSuccessfulOrThrow())) {
      for (int i = 0; i < times; i++) {
        scope.fork(task);
      }
      return scope.join().map(Subtask::get).toList();
    }
  }
}
