import java.io.IOException;
import java.net.URI;
import org.apache.hc.client5.http.classic.methods.HttpGet;
import org.apache.hc.client5.http.config.RequestConfig;
import org.apache.hc.client5.http.impl.classic.CloseableHttpClient;
import org.apache.hc.client5.http.impl.classic.HttpClients;
import org.apache.hc.client5.http.impl.io.PoolingHttpClientConnectionManagerBuilder;
import org.apache.hc.core5.http.io.entity.EntityUtils;

/** Apache's classic client, which writes and reads on the thread that calls it. */
record Apache(CloseableHttpClient client, URI backend) {
  /** As many as six fan-outs have requests at once, so that no request waits for a connection. */
  private static final int CONNECTIONS = 600;

  /** The client with the settings that kotlin-sync has. */
  static Apache to(URI backend) {
    var connections =
        PoolingHttpClientConnectionManagerBuilder.create()
            .setMaxConnTotal(CONNECTIONS)
            .setMaxConnPerRoute(CONNECTIONS)
            .build();
    var client =
        HttpClients.custom()
            .setConnectionManager(connections)
            // By default each request offers to go on in TLS.
            .setDefaultRequestConfig(
                RequestConfig.custom().setProtocolUpgradeEnabled(false).build())
            .disableAuthCaching()
            .disableAutomaticRetries()
            .disableContentCompression()
            .disableCookieManagement()
            .disableRedirectHandling()
            .build();
    return new Apache(client, backend);
  }

  String get() throws IOException {
    return client.execute(
        new HttpGet(backend),
        response -> Fanout.body(response.getCode(), EntityUtils.toString(response.getEntity())));
  }
}
