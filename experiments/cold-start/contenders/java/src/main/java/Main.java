import com.amazonaws.services.lambda.runtime.api.client.AWSLambda;

/** Starts AWS's runtime client with the class whose function was asked for. */
final class Main {
  public static void main(String[] args) throws Throwable {
    if (args.length > 0 && args[0].equals("--version")) {
      System.out.println("Java " + Runtime.version());
      return;
    }
    AWSLambda.main(new String[] {function(System.getenv("_HANDLER")).getName()});
  }

  private static Class<?> function(String name) {
    return switch (name) {
      case "pid" -> Pid.class;
      case "dump" -> Dump.class;
      case "wait-handler" -> WaitHandler.class;
      case "wait-init-10" -> WaitInit10.class;
      case "wait-init-2" -> WaitInit2.class;
      case "credentials-handler" -> CredentialsHandler.class;
      case "credentials-init" -> CredentialsInit.class;
      default -> throw new IllegalArgumentException("there is no function " + name);
    };
  }
}
