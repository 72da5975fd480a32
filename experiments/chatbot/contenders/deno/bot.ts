// A chat bot that answers "ping" with "pong": Deno.serve.
const MESSAGE_BYTES_MAX = 4096;

if (Deno.args[0] === "--version") {
  console.log(`Deno ${Deno.version.deno}, Deno.serve`);
} else {
  Deno.serve({
    hostname: Deno.env.get("HOST"),
    port: Number(Deno.env.get("PORT")),
    // As many as Ranch lets wait; Deno's own default is 511.
    tcpBacklog: 1024,
    onListen: () => {},
  }, answer);
}

async function answer(request: Request): Promise<Response> {
  if (request.method !== "POST" || new URL(request.url).pathname !== "/") {
    return new Response("Not Found", { status: 404 });
  }
  if (Number(request.headers.get("Content-Length")) > MESSAGE_BYTES_MAX) {
    return new Response("Content Too Large", { status: 413 });
  }
  if (await request.text() === "ping") return new Response("pong");
  return new Response("Bad Request", { status: 400 });
}
