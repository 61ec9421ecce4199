// The Vercel AI SDK, and its version 6.
import * as ai from "ai";
import * as ai6 from "ai6";
import { forecast, object, rain, timeout, weather } from "./forecast.mjs";

// frameworkOf lets a version of it run the agent's loop.
const frameworkOf = ({ generateText, Output, stepCountIs, streamText, tool }) =>
  (create, tools = { weather: tool({ inputSchema: weather.schema, execute: async (input) => rain(input) }) }) => async (c) => {
    const { stream, retries, json } = c;
    const settings = {
      model: create(c),
      prompt: "hi",
      maxRetries: retries,
      abortSignal: AbortSignal.timeout(timeout),
    };
    if (json) return object((await generateText({ ...settings, output: Output.object({ schema: forecast }) })).output);
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

export const framework = frameworkOf(ai);
export const framework6 = frameworkOf(ai6);
