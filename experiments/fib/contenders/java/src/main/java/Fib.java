import com.amazonaws.services.lambda.runtime.api.client.AWSLambda;

/** A function that computes a Fibonacci number, doubly recursive. */
public final class Fib {
  /**
   * No record: the runtime client's Jackson is told to set fields, and not to call constructors.
   */
  public static final class Event {
    public int n;
  }

  public record Answer(int n, long fib, double elapsed_ms) {}

  public Answer handle(Event event) {
    int n = event.n;
    fib(n);
    long begun = System.nanoTime();
    long result = fib(n);
    long elapsed = System.nanoTime() - begun;
    return new Answer(n, result, elapsed / 1e6);
  }

  private static long fib(int n) {
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
  }

  /** Says in which versions. Calls come in by the runtime client's own main. */
  public static void main(String[] args) {
    String client = AWSLambda.class.getPackage().getImplementationVersion();
    System.out.println("Java " + Runtime.version() + ", runtime interface client " + client);
  }
}
