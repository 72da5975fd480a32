// A web service whose requests make three queries each, over a pool of four connections: node:http and pg.
import { createServer } from "node:http";
import { createRequire } from "node:module";
import pg from "pg";

const QUERIES_PER_REQUEST = 3;

// More than any pause of a client's; by default a connection would be closed after 5 s without a request.
const PATIENCE = { keepAliveTimeout: 120_000, headersTimeout: 120_000 };

const SQL = {
  "GET /sleep": "select pg_sleep(0.03)",
  "GET /scan": "select count(*) from items where name like '%42%'",
};

// The only thing by which this error of pg's pool can be told from others.
const NO_CONNECTION_IN_TIME = "timeout exceeded when trying to connect";

if (process.argv[2] === "--version") {
  const { version } = createRequire(import.meta.url)("pg/package.json");
  console.log(`Node.js ${process.version}, pg ${version}`);
} else {
  const pool = new pg.Pool({
    host: process.env.DB_HOST,
    port: process.env.DB_PORT,
    user: "kumite",
    password: "kumite",
    database: "kumite",
    max: 4,
    min: 4,
    connectionTimeoutMillis: 1000,
  });
  // Of a connection that fails while nobody uses it; without a listener the process would end.
  pool.on("error", (error) => console.error(error.message));

  createServer(PATIENCE, (request, response) =>
    serve(pool, request, response),
  ).listen(process.env.PORT, "127.0.0.1");
}

async function serve(pool, request, response) {
  const sql = SQL[`${request.method} ${request.url}`];
  if (sql === undefined) {
    answer(response, 404, "Not Found");
    return;
  }
  for (let done = 0; done < QUERIES_PER_REQUEST; done++) {
    try {
      await pool.query(sql);
    } catch (error) {
      const refused = error.message === NO_CONNECTION_IN_TIME;
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
