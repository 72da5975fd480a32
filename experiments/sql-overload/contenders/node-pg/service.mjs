// A web service whose requests make three queries each, over a pool of four connections: node:http and pg.
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { parseArgs } from "node:util";
import pg from "pg";
import { Line, Refused } from "./line.mjs";

const CONNECTIONS = 4;
const QUERIES_PER_REQUEST = 3;

// More than any pause of a client's; by default a connection would be closed after 5 s without a request.
const PATIENCE = { keepAliveTimeout: 120_000, headersTimeout: 120_000 };

const SQL = {
  "GET /sleep": "select pg_sleep(0.03)",
  "GET /scan": "select count(*) from items where name like '%42%'",
};

const { values: options } = parseArgs({
  options: {
    version: { type: "boolean" },
    waiting: { type: "string", default: "Infinity" },
    order: { type: "string", default: "fair" },
  },
});

if (options.version) {
  const { version } = createRequire(import.meta.url)("pg/package.json");
  console.log(`Node.js ${process.version}, pg ${version}`);
} else {
  const pool = new pg.Pool({
    host: process.env.DB_HOST,
    port: process.env.DB_PORT,
    user: "kumite",
    password: process.env.DB_PASSWORD,
    database: "kumite",
    max: CONNECTIONS,
    min: CONNECTIONS,
  });
  const line = new Line({
    free: CONNECTIONS,
    waitingMax: Number(options.waiting),
    lastFirst: options.order === "unfair",
  });
  // Of a connection that fails while nobody uses it; without a listener the process would end.
  pool.on("error", (error) => console.error(error.message));

  createServer(PATIENCE, (request, response) =>
    serve(pool, line, request, response),
  ).listen(process.env.PORT, process.env.HOST);
}

async function serve(pool, line, request, response) {
  const sql = SQL[`${request.method} ${request.url}`];
  if (sql === undefined) {
    answer(response, 404, "Not Found");
    return;
  }
  for (let done = 0; done < QUERIES_PER_REQUEST; done++) {
    try {
      await line.within(() => pool.query(sql));
    } catch (error) {
      const refused = error instanceof Refused;
      answer(response, 500, `${refused ? "refused" : "failed"} after ${done}`);
      return;
    }
  }
  answer(response, 200, "done");
}

function answer(response, status, text) {
  response.writeHead(status, {
    "Content-Type": "text/plain",
    "Content-Length": Buffer.byteLength(text),
  });
  response.end(text);
}
