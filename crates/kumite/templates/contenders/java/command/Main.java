/** Parameters are in the environment, in capitals: System.getenv("NUMBERS"). What it prints is the answer. */
public final class Main {
  public static void main(String[] args) {
    System.out.println("not written yet");
  }
}
