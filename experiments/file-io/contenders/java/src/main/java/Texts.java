import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** What was read of each file. */
final class Texts {
  private final List<Path> paths;
  private final List<Text> texts;

  Texts(Path folder, int files) {
    paths = IntStream.range(0, files).mapToObj(i -> folder.resolve("" + i)).toList();
    texts = Stream.generate(Text::new).limit(files).toList();
  }

  /** Of the file whose turn it is at the nth reading. */
  Path path(int n) {
    return paths.get(n % paths.size());
  }

  void keep(int n, String text) {
    texts.get(n % texts.size()).keep(text);
  }

  Map<String, Text> byFile() {
    Map<String, Text> read = new TreeMap<>();
    for (int i = 0; i < texts.size(); i++) {
      if (texts.get(i).getTimes() > 0) {
        read.put("" + i, texts.get(i));
      }
    }
    return read;
  }

  /**
   * The last text of a file. What the answer says of it is computed when that is written, after the
   * clock.
   */
  static final class Text {
    private final AtomicInteger kept = new AtomicInteger();
    private volatile String last = "";

    private void keep(String text) {
      last = text;
      kept.incrementAndGet();
    }

    public int getTimes() {
      return kept.get();
    }

    public int getChars() {
      return last.codePointCount(0, last.length());
    }

    public String getSha256() throws NoSuchAlgorithmException {
      byte[] bytes = last.getBytes(StandardCharsets.UTF_8);
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
    }
  }
}
