// The worker by which the conformance script tests the kit.

import kotlinx.coroutines.delay
import kumite.serve

fun main() =
    serve("kotlin-conformance") {
        when (val what = params["do"]) {
            "echo" -> return@serve params["value"]
            "empty" -> {}
            "fail" -> error(params["message"] as String)
            "sleep" -> delay(int("ms").toLong())
            "events" -> {
                event("next", "one")
                delay(1)
                event("complete", "two")
            }
            "metrics" -> metric("answer_count", 42)
            else -> error("cannot do $what")
        }
        null
    }
