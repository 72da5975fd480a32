// A chat bot that answers "ping" with "pong": one event loop, nothing but node:http.
import { createServer } from "node:http";

const MESSAGE_CHARS_MAX = 4096;

if (process.argv[2] === "--version") {
  console.log(`Node.js ${process.version}, node:http`);
} else {
  createServer(listen).listen({
    host: process.env.HOST,
    port: process.env.PORT,
    // As many as Ranch lets wait; Node.js' own default is 511.
    backlog: 1024,
  });
}

function listen(request, response) {
  if (request.method !== "POST" || request.url !== "/") {
    answer(response, 404, "Not Found");
    return;
  }
  let text = "";
  request.setEncoding("utf8");
  request.on("data", (chunk) => {
    // What does not fit is not kept; it is too long to be a "ping" anyway.
    if (text.length <= MESSAGE_CHARS_MAX) text += chunk;
  });
  request.on("end", () => {
    if (text === "ping") answer(response, 200, "pong");
    else answer(response, 400, "Bad Request");
  });
}

function answer(response, status, text) {
  response.writeHead(status, {
    "Content-Type": "text/plain",
    "Content-Length": Buffer.byteLength(text),
  });
  response.end(text);
}
