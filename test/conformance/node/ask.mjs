// Asks a scripted server through clients of Node's. The first argument names the client, as FUNCTION of
// clients.mjs or as FILE/FUNCTION of another file; standard input holds the cases as JSON, a list of {name,
// base, stream, json, retries, feature}; standard output gets what the client understood of each, by name.
import { readFileSync } from "node:fs";

globalThis.AI_SDK_LOG_WARNINGS = false; // they go to standard output
console.info = console.warn = console.debug = () => {}; // as do those of other frameworks

// told is an error as the client tells it.
function told(error) {
  const inner = error.lastError ?? error;
  const status = inner.status ?? inner.statusCode ?? inner.status_code ?? inner.$metadata?.httpStatusCode ?? inner.cause?.status ?? 0;
  return { error: inner.constructor.name, status, message: String(inner.message) };
}

const [file, name] = process.argv[2].includes("/") ? process.argv[2].split("/") : ["clients", process.argv[2]];
const ask = (await import(`./${file}.mjs`)).clients[name];
const cases = JSON.parse(readFileSync(0, "utf8"));
const seen = {};
for (const c of cases) {
  seen[c.name] = await ask(c).catch(told);
}
process.stdout.write(JSON.stringify(seen) + "\n", () => process.exit(0)); // some frameworks leave timers running
