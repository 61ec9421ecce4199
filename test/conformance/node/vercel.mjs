// The Vercel AI SDK.
import { generateObject, generateText, stepCountIs, streamText, tool } from "ai";
import { forecast, object, rain, timeout, weather } from "./forecast.mjs";

// framework lets it run the agent's loop.
export const framework = (create, tools = { weather: tool({ inputSchema: weather.schema, execute: async (input) => rain(input) }) }) => async (c) => {
  const { stream, retries, json } = c;
  const settings = {
    model: create(c),
    prompt: "hi",
    maxRetries: retries,
    abortSignal: AbortSignal.timeout(timeout),
  };
  if (json) return object((await generateObject({ ...settings, schema: forecast })).object);
  Object.assign(settings, { tools, stopWhen: stepCountIs(5) });
  if (!stream) {
    const answer = await generateText(settings);
    return { text: answer.text, thinking: answer.reasoningText, finish: answer.finishReason, output: answer.usage.outputTokens };
  }
  let failed;
  const answer = streamText({ ...settings, onError: ({ error }) => (failed ??= error) });
  await answer.consumeStream();
  if (failed) throw failed;
  return {
    text: await answer.text,
    thinking: await answer.reasoningText,
    finish: await answer.finishReason,
    output: (await answer.usage).outputTokens,
  };
};
