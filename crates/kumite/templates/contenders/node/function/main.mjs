// Answers one call after another by Lambda's Runtime API. AWS's client for Node.js, aws-lambda-ric, runs here, too.
const api = `http://${process.env.AWS_LAMBDA_RUNTIME_API}/2018-06-01/runtime/invocation`;

async function handler(event) {
  return { "not written yet": event };
}

for (;;) {
  const call = await fetch(`${api}/next`);
  const id = call.headers.get("lambda-runtime-aws-request-id");
  const body = JSON.stringify(await handler(await call.json()));
  const taken = await fetch(`${api}/${id}/response`, { method: "POST", body });
  await taken.text();
}
