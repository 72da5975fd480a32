import java.util.Map;

/** A function for AWS Lambda. */
public final class Main {
  public Map<String, Object> handle(Map<String, Object> event) {
    return Map.of("not written yet", event);
  }
}
