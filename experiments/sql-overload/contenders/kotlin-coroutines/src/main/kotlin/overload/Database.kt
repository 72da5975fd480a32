package overload

import com.github.jasync.sql.db.asSuspending
import com.github.jasync.sql.db.postgresql.PostgreSQLConnectionBuilder
import org.springframework.beans.factory.DisposableBean
import org.springframework.beans.factory.annotation.Value
import org.springframework.stereotype.Component

private const val CONNECTIONS = 4

/** A pool of connections for which at most [waiting] queries wait. */
@Component
class Database(
    @Value("\${DB_HOST}") host: String,
    @Value("\${DB_PORT}") port: Int,
    @Value("\${DB_PASSWORD}") password: String,
    @Value("\${waiting}") waiting: Int,
) : DisposableBean {
    private val pool =
        PostgreSQLConnectionBuilder.createConnectionPool {
            this.host = host
            this.port = port
            database = "kumite"
            username = "kumite"
            this.password = password
            maxActiveConnections = CONNECTIONS
            minIdleConnections = CONNECTIONS
            maxPendingQueries = waiting
        }

    /** Takes a connection from the pool for [query], and gives it back; PoolExhaustedException if too many wait already. */
    suspend fun send(query: String) = pool.asSuspending.sendQuery(query)

    override fun destroy() {
        pool.disconnect()
    }
}
