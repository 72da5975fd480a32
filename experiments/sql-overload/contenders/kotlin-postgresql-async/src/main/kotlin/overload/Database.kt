package overload

import com.github.mauricio.async.db.pool.ConnectionPool
import com.github.mauricio.async.db.pool.PoolConfiguration
import com.github.mauricio.async.db.postgresql.pool.PostgreSQLConnectionFactory
import com.github.mauricio.async.db.postgresql.util.URLParser
import com.github.mauricio.async.db.util.ExecutorServiceUtils
import com.github.mauricio.async.db.util.NettyUtils
import org.springframework.beans.factory.DisposableBean
import org.springframework.beans.factory.annotation.Value
import org.springframework.stereotype.Component
import scala.concurrent.ExecutionContext
import scala.concurrent.Future
import scala.util.Failure
import scala.util.Success
import kotlin.coroutines.resume
import kotlin.coroutines.resumeWithException
import kotlin.coroutines.suspendCoroutine

private const val CONNECTIONS = 4
private const val IDLE_MS_MAX = 600_000L
private const val VALIDATION_INTERVAL_MS = 5_000L

/** A pool of connections for which at most [waiting] queries wait. */
@Component
class Database(
    @Value("\${DB_HOST}") host: String,
    @Value("\${DB_PORT}") port: Int,
    @Value("\${DB_PASSWORD}") password: String,
    @Value("\${waiting}") waiting: Int,
) : DisposableBean {
    private val executor = ExecutorServiceUtils.CachedExecutionContext()
    private val pool =
        ConnectionPool(
            PostgreSQLConnectionFactory(
                URLParser.parse("jdbc:postgresql://$host:$port/kumite?user=kumite&password=$password", Charsets.UTF_8),
                NettyUtils.DefaultEventLoopGroup(),
                executor,
            ),
            PoolConfiguration(CONNECTIONS, IDLE_MS_MAX, waiting, VALIDATION_INTERVAL_MS),
            executor,
        )

    /** Takes a connection from the pool for [query], and gives it back; PoolExhaustedException if too many wait already. */
    suspend fun send(query: String) = pool.sendQuery(query).await(executor)

    override fun destroy() {
        pool.close()
    }
}

private suspend fun <T> Future<T>.await(executor: ExecutionContext): T =
    suspendCoroutine { continuation ->
        onComplete({ result ->
            when (result) {
                is Success -> continuation.resume(result.value())
                is Failure -> continuation.resumeWithException(result.exception())
            }
        }, executor)
    }
