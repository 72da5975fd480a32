import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Plays what it is told on standard input. */
final class Player {
  /** One write to the system for each of ours, where System.out would go through two buffers. */
  static final FileOutputStream OUT = new FileOutputStream(FileDescriptor.out);

  /** A line to write, and when: in ns from the start of the play. */
  record State(long offset, byte[] line) {}

  /** Writes each state when it is due. */
  interface Way {
    void play(List<State> states) throws Exception;
  }

  public static void main(String[] args) throws Exception {
    switch (args[0]) {
      case "--version" -> System.out.println("Java " + Runtime.version());
      case "java-scheduled" -> {
        try (var scheduled = new Scheduled()) {
          serve(scheduled);
        }
      }
      case "java-virtual-sleep" -> serve(new VirtualSleep());
      default -> throw new IllegalArgumentException("there is no way " + args[0]);
    }
  }

  private static void serve(Way way) throws Exception {
    var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
    OUT.write(line("ready"));
    for (String command; (command = in.readLine()) != null; ) {
      String[] words = command.split(" ");
      if (words.length != 3 || !words[0].equals("play") || !words[1].equals("absolute")) {
        System.err.println("expected 'play absolute N', got '" + command + "'");
        System.exit(1);
      }
      way.play(states(in, Integer.parseInt(words[2])));
    }
  }

  private static List<State> states(BufferedReader in, int count) throws IOException {
    var states = new ArrayList<State>();
    while (states.size() < count) {
      String state = in.readLine();
      if (state == null) {
        throw new IOException("expected " + count + " states, got " + states.size());
      }
      String[] parts = state.split(" ", 2);
      states.add(new State(Long.parseLong(parts[0]), line(parts[1])));
    }
    return states;
  }

  private static byte[] line(String text) {
    return (text + "\n").getBytes(StandardCharsets.US_ASCII);
  }
}
