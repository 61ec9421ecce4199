// Asks a scripted server through the vendors' own Node clients and an agent
// framework. The first argument names the client; standard input holds the cases
// as JSON, a list of {name, base, stream, retries, feature}; standard output gets
// what the client understood of each, by name.
import { readFileSync } from "node:fs";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, stepCountIs, streamText, tool } from "ai";
import { z } from "zod";
import { features } from "./features.mjs";

globalThis.AI_SDK_LOG_WARNINGS = false; // they go to standard output

const model = "gpt-4.1-mini";
const apiKey = "k";
const timeout = 2000;
const weather = { city: { type: "string" } };
const rain = "rain";

// chat asks over chat completions and answers tool calls until there are none.
async function chat({ base, stream, retries }) {
  const api = new OpenAI({ baseURL: base, apiKey, maxRetries: retries, timeout });
  const messages = [{ role: "user", content: "hi" }];
  const tools = [{ type: "function", function: { name: "weather", parameters: { type: "object", properties: weather } } }];
  for (;;) {
    const request = { model, messages, tools };
    const answer = stream
      ? await api.chat.completions.stream({ ...request, stream_options: { include_usage: true } }).finalChatCompletion()
      : await api.chat.completions.create(request);
    const { message, finish_reason } = answer.choices[0];
    const calls = message.tool_calls ?? [];
    if (calls.length === 0) {
      return { text: message.content ?? message.refusal, finish: finish_reason, output: answer.usage?.completion_tokens };
    }
    messages.push(message);
    for (const call of calls) {
      JSON.parse(call.function.arguments);
      messages.push({ role: "tool", tool_call_id: call.id, content: rain });
    }
  }
}

// responses does the same over Responses.
async function responses({ base, stream, retries }) {
  const api = new OpenAI({ baseURL: base, apiKey, maxRetries: retries, timeout });
  const input = [{ role: "user", content: "hi" }];
  const tools = [{ type: "function", name: "weather", parameters: { type: "object", properties: weather }, strict: false }];
  for (;;) {
    const request = { model, input, tools, store: false };
    const answer = stream ? await api.responses.stream(request).finalResponse() : await api.responses.create(request);
    if (answer.status === "failed") throw Object.assign(new Error(answer.error.message), { status: 200 });
    const calls = answer.output.filter((item) => item.type === "function_call");
    if (calls.length === 0) {
      const thoughts = answer.output.filter((item) => item.type === "reasoning").flatMap((item) => item.summary);
      return {
        text: answer.output_text,
        finish: answer.incomplete_details?.reason ?? answer.status,
        thinking: thoughts.map((t) => t.text).join(""),
        output: answer.usage?.output_tokens,
      };
    }
    input.push(...answer.output);
    for (const call of calls) {
      JSON.parse(call.arguments);
      input.push({ type: "function_call_output", call_id: call.call_id, output: rain });
    }
  }
}

// messages does the same over Anthropic Messages.
async function messages({ base, stream, retries }) {
  const api = new Anthropic({ baseURL: base.replace(/\/v1$/, ""), apiKey, maxRetries: retries, timeout });
  const talk = [{ role: "user", content: "hi" }];
  const tools = [{ name: "weather", input_schema: { type: "object", properties: weather } }];
  for (;;) {
    const request = { model, max_tokens: 100, messages: talk, tools };
    const answer = stream ? await api.messages.stream(request).finalMessage() : await api.messages.create(request);
    const of = (type) => answer.content.filter((block) => block.type === type);
    const calls = of("tool_use");
    if (calls.length === 0) {
      return {
        text: of("text").map((b) => b.text).join(""),
        thinking: of("thinking").map((b) => b.thinking).join(""),
        finish: answer.stop_reason,
        output: answer.usage.output_tokens,
      };
    }
    talk.push({ role: "assistant", content: answer.content });
    talk.push({ role: "user", content: calls.map((c) => ({ type: "tool_result", tool_use_id: c.id, content: rain })) });
  }
}

// framework lets the Vercel AI SDK run the agent's loop.
const framework = (create) => async ({ base, stream, retries }) => {
  const settings = {
    model: create({ baseURL: base, apiKey })(model),
    prompt: "hi",
    maxRetries: retries,
    stopWhen: stepCountIs(5),
    abortSignal: AbortSignal.timeout(timeout),
    tools: { weather: tool({ inputSchema: z.object({ city: z.string() }), execute: async () => rain }) },
  };
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

const clients = {
  chat,
  responses,
  messages,
  "ai-openai": framework(createOpenAI),
  "ai-anthropic": framework(createAnthropic),
  features: (c) => features[c.feature](c),
};

// told is an error as the client tells it.
function told(error) {
  const inner = error.lastError ?? error;
  return { error: inner.constructor.name, status: inner.status ?? inner.statusCode ?? 0, message: String(inner.message) };
}

const ask = clients[process.argv[2]];
const cases = JSON.parse(readFileSync(0, "utf8"));
const seen = {};
for (const c of cases) {
  seen[c.name] = await ask(c).catch(told);
}
console.log(JSON.stringify(seen));
