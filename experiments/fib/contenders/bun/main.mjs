// Answers one call after another by the Lambda Runtime API, in the runtime that this runs in.
import { handler } from "../node/fib.mjs";

if (process.argv[2] === "--version") {
  console.log(
    globalThis.Bun ? `Bun ${Bun.version}` : `Deno ${Deno.version.deno}`,
  );
} else {
  const api = `http://${process.env.AWS_LAMBDA_RUNTIME_API}/2018-06-01/runtime/invocation`;
  for (;;) await answerCall(api);
}

async function answerCall(api) {
  // Without a limit of time: the next call may be hours away.
  const call = await fetch(`${api}/next`, { timeout: false });
  const id = call.headers.get("lambda-runtime-aws-request-id");
  const [what, answer] = await handle(await call.json());
  const body = JSON.stringify(answer);
  const taken = await fetch(`${api}/${id}/${what}`, { method: "POST", body });
  await taken.text();
  if (!taken.ok) throw new Error(`the answer was refused: ${taken.status}`);
}

async function handle(event) {
  try {
    return ["response", await handler(event)];
  } catch (error) {
    return ["error", { errorType: error.name, errorMessage: error.message }];
  }
}
