package fileio;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The way to read a file as a text. The JMH benchmark compiles this very file. */
public final class Reads {
  public static String read(Path path) throws IOException {
    return Files.readString(path);
  }
}
