// A chat bot that answers "ping" with "pong": Bun.serve.
const MESSAGE_BYTES_MAX = 4096;

if (process.argv[2] === "--version") {
  console.log(`Bun ${Bun.version}, Bun.serve`);
} else {
  Bun.serve({
    hostname: process.env.HOST,
    port: process.env.PORT,
    maxRequestBodySize: MESSAGE_BYTES_MAX,
    routes: { "/": { POST: answer } },
    fetch: () => new Response("Not Found", { status: 404 }),
  });
}

async function answer(request: Request): Promise<Response> {
  if ((await request.text()) === "ping") return new Response("pong");
  return new Response("Bad Request", { status: 400 });
}
