// The clients of services that imitate OpenAI's API, at their own paths. Each function gets a
// case and returns what the client understood. Clients that take long to load are loaded when they are used.
import { createGroq } from "@ai-sdk/groq";
import { createMistral } from "@ai-sdk/mistral";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { createOpenRouter } from "@openrouter/ai-sdk-provider";
import Groq from "groq-sdk";
import OpenAI, { AzureOpenAI } from "openai";
import { apiKey, forecastJSON, rain, weatherJSON } from "./forecast.mjs";
import { framework } from "./vercel.mjs";

const timeout = 4000;
const root = (base) => base.replace(/\/v1$/, "");
const weather = { name: "weather", parameters: weatherJSON };
const response_format = { type: "json_schema", json_schema: { name: "forecast", schema: forecastJSON, strict: true } };

// chat talks over a client with OpenAI's interface until there are no tool calls.
const chat = (create, model) => async ({ base, stream, retries, json }) => {
  const api = create(base, retries);
  const messages = [{ role: "user", content: "hi" }];
  const tools = [{ type: "function", function: weather }];
  for (;;) {
    const request = { model, messages, tools, ...(json && { response_format }) };
    const message = { role: "assistant", content: "", tool_calls: [] };
    let thinking = "", finish, output;
    const take = (choice, content, usage) => {
      message.content += content?.content ?? "";
      thinking += content?.reasoning ?? content?.reasoning_content ?? "";
      for (const [i, call] of (content?.tool_calls ?? []).entries()) {
        const at = call.index ?? i;
        message.tool_calls[at] ??= { id: call.id, type: "function", function: { name: call.function.name, arguments: "" } };
        message.tool_calls[at].function.arguments += call.function.arguments ?? "";
      }
      finish = choice?.finish_reason ?? finish;
      output = usage?.completion_tokens ?? output;
    };
    if (stream) {
      for await (const chunk of await api.chat.completions.create({ ...request, stream: true, stream_options: { include_usage: true } })) {
        take(chunk.choices[0], chunk.choices[0]?.delta, chunk.usage);
      }
    } else {
      const answer = await api.chat.completions.create(request);
      take(answer.choices[0], answer.choices[0].message, answer.usage);
    }
    if (message.tool_calls.length === 0) return { text: message.content, thinking, finish, output };
    messages.push(message);
    for (const call of message.tool_calls) messages.push({ role: "tool", tool_call_id: call.id, content: rain(JSON.parse(call.function.arguments)) });
  }
};

const azure = (base, maxRetries) => new AzureOpenAI({ endpoint: root(base), apiKey, apiVersion: "2025-04-01-preview", maxRetries, timeout });
const groq = (base, maxRetries) => new Groq({ baseURL: root(base), apiKey, maxRetries, timeout });
const openai = (base, maxRetries = 0) => new OpenAI({ baseURL: base, apiKey, maxRetries, timeout });

async function mistral({ base, stream, retries, json }) {
  const { Mistral } = await import("@mistralai/mistralai");
  const backoff = { initialInterval: 10, maxInterval: 100, exponent: 1.5, maxElapsedTime: timeout };
  const retryConfig = retries > 0 ? { strategy: "backoff", backoff, retryConnectionErrors: false } : undefined;
  const api = new Mistral({ serverURL: root(base), apiKey, timeoutMs: timeout, retryConfig });
  const responseFormat = { type: "json_schema", jsonSchema: { name: "forecast", schemaDefinition: forecastJSON, strict: true } };
  const messages = [{ role: "user", content: "hi" }];
  const tools = [{ type: "function", function: weather }];
  for (;;) {
    const request = { model: "mistral-large-latest", messages, tools, ...(json && { responseFormat }) };
    let text = "", calls = [], finish, output;
    if (stream) {
      for await (const { data } of await api.chat.stream(request)) {
        const choice = data.choices[0];
        text += choice?.delta.content ?? "";
        for (const call of choice?.delta.toolCalls ?? []) {
          calls[call.index] ??= { id: call.id, function: { name: call.function.name, arguments: "" } };
          calls[call.index].function.arguments += call.function.arguments;
        }
        finish = choice?.finishReason ?? finish;
        output = data.usage?.completionTokens ?? output;
      }
    } else {
      const answer = await api.chat.complete(request);
      ({ content: text, toolCalls: calls } = answer.choices[0].message);
      ({ finishReason: finish } = answer.choices[0]);
      output = answer.usage.completionTokens;
    }
    if (!calls?.length) return { text, finish, output };
    messages.push({ role: "assistant", content: text, toolCalls: calls });
    for (const call of calls) messages.push({ role: "tool", toolCallId: call.id, name: call.function.name, content: rain(JSON.parse(call.function.arguments)) });
  }
}

const retryCodes = ["429", "5XX"]; // of OpenRouter's client, which by default leaves out 429

async function openrouterClient({ base, retries }) {
  const { OpenRouter } = await import("@openrouter/sdk");
  const backoff = { initialInterval: 10, maxInterval: 100, exponent: 1.5, maxElapsedTime: timeout };
  const retryConfig = retries > 0 ? { strategy: "backoff", backoff, retryConnectionErrors: false } : { strategy: "none" };
  return new OpenRouter({ serverURL: root(base) + "/api/v1", apiKey, timeoutMs: timeout, retryConfig });
}

async function openrouterChat(c) {
  const { stream, json } = c;
  const api = await openrouterClient(c);
  const responseFormat = { type: "json_schema", jsonSchema: { name: "forecast", schema: forecastJSON, strict: true } };
  const messages = [{ role: "user", content: "hi" }];
  const tools = [{ type: "function", function: weather }];
  for (;;) {
    const chatRequest = { model: "openai/gpt-5-mini", messages, tools, stream, ...(json && { responseFormat }) };
    const answer = await api.chat.send({ chatRequest }, { retryCodes });
    let text = "", thinking = "", finish, output;
    const calls = [];
    for await (const { choices: [choice], usage, error } of stream ? answer : [answer]) {
      if (error) throw new Error(error.message);
      const message = choice?.delta ?? choice?.message;
      text += message?.content ?? "";
      thinking += message?.reasoning ?? "";
      for (const [i, call] of (message?.toolCalls ?? []).entries()) {
        const at = call.index ?? i;
        calls[at] ??= { id: call.id, type: "function", function: { name: call.function.name, arguments: "" } };
        calls[at].function.arguments += call.function.arguments ?? "";
      }
      finish = choice?.finishReason ?? finish;
      output = usage?.completionTokens ?? output;
    }
    if (calls.length === 0) return { text, thinking, finish, output };
    messages.push({ role: "assistant", content: text, toolCalls: calls });
    for (const call of calls) messages.push({ role: "tool", toolCallId: call.id, content: rain(JSON.parse(call.function.arguments)) });
  }
}

async function openrouterResponses(c) {
  const { stream, json } = c;
  const api = await openrouterClient(c);
  const text = { format: { type: "json_schema", name: "forecast", schema: forecastJSON, strict: true } };
  const input = [{ role: "user", content: "hi" }];
  const tools = [{ type: "function", ...weather, strict: false }];
  for (;;) {
    const responsesRequest = { model: "openai/gpt-5-mini", input, tools, stream, ...(json && { text }) };
    let answer = await api.responses.send({ responsesRequest }, { retryCodes });
    if (stream) {
      let last;
      for await (const event of answer) last = event;
      if (!last?.response) return { text: "" }; // the stream ended too early
      if (last.response.error) throw new Error(last.response.error.message);
      answer = last.response;
    }
    const of = (type) => answer.output.filter((item) => item.type === type);
    const calls = of("function_call");
    if (calls.length === 0) {
      return {
        text: of("message").flatMap((item) => item.content).map((part) => part.text).join(""),
        thinking: of("reasoning").flatMap((item) => item.summary).map((part) => part.text).join(""),
        finish: answer.status,
        output: answer.usage.outputTokens,
      };
    }
    input.push(...answer.output);
    for (const { callId, arguments: given } of calls) input.push({ type: "function_call_output", callId, output: rain(JSON.parse(given)) });
  }
}

async function mistralEmbeddings({ base }) {
  const { Mistral } = await import("@mistralai/mistralai");
  const api = new Mistral({ serverURL: root(base), apiKey, timeoutMs: timeout });
  const answer = await api.embeddings.create({ model: "mistral-embed", inputs: ["one", "two"] });
  return { text: answer.id, output: answer.data.length };
}

async function azureEmbeddings({ base }) {
  const answer = await azure(base, 0).embeddings.create({ model: "my-embeddings", input: ["one", "two"], encoding_format: "float" });
  return { text: answer.model, output: answer.data.length };
}

async function azureResponses({ base }) {
  return { text: (await azure(base, 0).responses.create({ model: "my-deployment", input: "hi" })).output_text };
}

async function choices({ base, stream }) {
  const request = { model: "gpt-4.1-mini", messages: [{ role: "user", content: "hi" }], n: 3 };
  const answer = stream
    ? await openai(base).chat.completions.stream(request).finalChatCompletion()
    : await openai(base).chat.completions.create(request);
  return { text: answer.choices.map((c) => c.message.content).join("|"), output: answer.choices.length };
}

async function functions({ base, stream }) {
  const messages = [{ role: "user", content: "hi" }];
  for (;;) {
    const request = { model: "gpt-4.1-mini", messages, functions: [weather], function_call: "auto" };
    const answer = stream
      ? await openai(base).chat.completions.stream(request).finalChatCompletion()
      : await openai(base).chat.completions.create(request);
    const { message } = answer.choices[0];
    if (!message.function_call) return { text: message.content };
    messages.push({ role: "assistant", content: null, function_call: message.function_call }, { role: "function", name: "weather", content: rain(JSON.parse(message.function_call.arguments)) });
  }
}

async function limits({ base }) {
  const { response } = await openai(base).chat.completions
    .create({ model: "gpt-4.1-mini", messages: [{ role: "user", content: "hi" }] }).withResponse();
  return { text: response.headers.get("x-ratelimit-remaining-requests") };
}

async function moderation({ base }) {
  const answer = await openai(base).moderations.create({ model: "omni-moderation-latest", input: ["I love you.", "I kill you."] });
  return { text: answer.results.map((r) => r.flagged).join(), output: answer.results.length };
}

export const services = {
  azure: chat(azure, "my-deployment"),
  groq: chat(groq, "qwen/qwen3-32b"),
  mistral,
  openrouterChat,
  openrouterResponses,
  openrouter: framework(({ base }) => createOpenRouter({ baseURL: root(base) + "/api/v1", apiKey })("openai/gpt-5-mini")),
  "openai-compatible": framework(({ base: baseURL }) => createOpenAICompatible({ name: "deepseek", baseURL, apiKey, includeUsage: true, supportsStructuredOutputs: true })("deepseek-reasoner")),
  "ai-mistral": framework(({ base: baseURL }) => createMistral({ baseURL, apiKey })("mistral-large-latest")),
  "ai-groq": framework(({ base }) => createGroq({ baseURL: root(base) + "/openai/v1", apiKey })("qwen/qwen3-32b")),
  mistralEmbeddings,
  azureEmbeddings,
  azureResponses,
  choices,
  functions,
  limits,
  moderation,
};
