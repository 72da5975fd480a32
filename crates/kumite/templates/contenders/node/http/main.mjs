// Answers every request. Parameters of the workload are what the load asks with.
import { createServer } from "node:http";

const server = createServer((request, response) => {
  request.resume();
  response.end("not written yet");
});
server.listen(Number(process.env.PORT), process.env.HOST, 1024);
