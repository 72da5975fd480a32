import software.amazon.awssdk.core.util.VersionInfo;

final class Version {
  public static void main(String[] args) {
    System.out.println(
        "Java " + Runtime.version() + ", AWS SDK for Java " + VersionInfo.SDK_VERSION);
  }

  private Version() {}
}
