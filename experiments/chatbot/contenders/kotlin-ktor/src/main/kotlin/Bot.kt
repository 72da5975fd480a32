// A chat bot that answers "ping" with "pong": a coroutine for each request, by Ktor on Netty.

import io.ktor.http.HttpStatusCode
import io.ktor.server.engine.connector
import io.ktor.server.engine.embeddedServer
import io.ktor.server.netty.Netty
import io.ktor.server.request.receiveChannel
import io.ktor.server.response.respondText
import io.ktor.server.routing.RoutingContext
import io.ktor.server.routing.post
import io.ktor.server.routing.routing
import io.ktor.utils.io.readRemaining
import kotlinx.io.readString

private const val MESSAGE_BYTES_MAX = 4096L

fun main(args: Array<String>) {
    if (args.firstOrNull() == "--version") {
        val ktor = Netty::class.java.`package`.implementationVersion
        println("Ktor $ktor, Netty, Kotlin ${KotlinVersion.CURRENT}, Java ${Runtime.version()}")
        return
    }

    val server =
        embeddedServer(Netty, configure = {
            connector {
                host = System.getenv("HOST")
                port = System.getenv("PORT").toInt()
            }
            shutdownGracePeriod = 200
            shutdownTimeout = 1000
        }) {
            routing { post("/") { hear() } }
        }
    server.start(wait = true)
}

private suspend fun RoutingContext.hear() {
    // What does not fit is not kept; it is too long to be a "ping" anyway.
    val text = call.receiveChannel().readRemaining(MESSAGE_BYTES_MAX).readString()
    if (text == "ping") {
        call.respondText("pong")
    } else {
        call.respondText("Bad Request", status = HttpStatusCode.BadRequest)
    }
}
