// Says who it is, and how often it was called.
let count = 0;

export async function handler() {
  count++;
  return { handler: "pid", instance: `${process.pid}`, count };
}
