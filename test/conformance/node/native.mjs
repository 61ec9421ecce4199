// Clients of protocols whose paths are not below /v1.
import { BedrockRuntimeClient, ConverseCommand, ConverseStreamCommand } from "@aws-sdk/client-bedrock-runtime";
import { Ollama } from "ollama";
import { forecastJSON, model, rain, weatherJSON } from "./forecast.mjs";

const png = "iVBORw==";
const root = (base) => base.replace(/\/v1$/, "");

// collect joins the messages of a stream.
async function collect(parts) {
  const message = { role: "assistant", content: "", thinking: "", tool_calls: [] };
  let last;
  for await (const part of parts) {
    last = part;
    message.content += part.message?.content ?? part.response ?? "";
    message.thinking += part.message?.thinking ?? part.thinking ?? "";
    message.tool_calls.push(...(part.message?.tool_calls ?? []));
  }
  return { ...last, message };
}

// ollama asks Ollama's client and answers tool calls until there are none.
async function ollama({ base, stream, json }) {
  const api = new Ollama({ host: root(base) });
  const messages = [{ role: "user", content: "hi" }];
  const tools = [{ type: "function", function: { name: "weather", description: "the weather", parameters: weatherJSON } }];
  const format = json ? forecastJSON : undefined;
  for (;;) {
    let answer = await api.chat({ model, messages, tools, stream, format, think: true, options: { temperature: 0 } });
    if (stream) answer = await collect(answer);
    const { message, done_reason, eval_count } = answer;
    const calls = message?.tool_calls ?? [];
    if (calls.length === 0) {
      return { text: message?.content ?? "", thinking: message?.thinking, finish: done_reason, output: eval_count };
    }
    messages.push(message);
    for (const call of calls) {
      if (typeof call.function.arguments !== "object") throw new Error("the arguments are not an object");
      messages.push({ role: "tool", tool_name: call.function.name, content: rain(call.function.arguments) });
    }
  }
}

// generate sends a prompt with an image.
async function generate({ base, stream }) {
  const api = new Ollama({ host: root(base) });
  const request = { model, prompt: "what is this?", system: "Be brief.", images: [png], format: "json", stream };
  const answer = await api.generate(request);
  const { message, done_reason, eval_count } = stream ? await collect(answer) : { ...answer, message: { content: answer.response } };
  return { text: message.content, finish: done_reason, output: eval_count };
}

// ollamaModels uses the endpoints beside answers.
async function ollamaModels({ base }) {
  const api = new Ollama({ host: root(base) });
  const { models } = await api.list();
  const { capabilities } = await api.show({ model });
  const { version } = await api.version();
  const { embeddings } = await api.embed({ model, input: ["one", "one"], dimensions: 3 });
  const same = JSON.stringify(embeddings[0]) === JSON.stringify(embeddings[1]);
  return { text: [models[0].model, capabilities.includes("tools"), version, embeddings[0].length, same].join(" ") };
}

const bedrock = (base, retries) =>
  new BedrockRuntimeClient({
    endpoint: root(base),
    region: "us-east-1",
    credentials: { accessKeyId: "k", secretAccessKey: "s" },
    maxAttempts: retries + 1,
    requestHandler: { requestTimeout: 2000 },
  });

// converseMessage joins the events of a stream to a message.
async function converseMessage(stream) {
  const blocks = [];
  let stopReason, usage;
  for await (const event of stream) {
    const { contentBlockStart: start, contentBlockDelta: piece } = event;
    if (start) blocks[start.contentBlockIndex] = { toolUse: { ...start.start.toolUse, input: "" } };
    if (piece) {
      const block = (blocks[piece.contentBlockIndex] ??= {});
      const { text, toolUse, reasoningContent } = piece.delta;
      if (text !== undefined) block.text = (block.text ?? "") + text;
      if (toolUse) block.toolUse.input += toolUse.input;
      if (reasoningContent) {
        block.reasoningContent ??= { reasoningText: { text: "" } };
        block.reasoningContent.reasoningText.text += reasoningContent.text ?? "";
        if (reasoningContent.signature) block.reasoningContent.reasoningText.signature = reasoningContent.signature;
      }
    }
    stopReason = event.messageStop?.stopReason ?? stopReason;
    usage = event.metadata?.usage ?? usage;
  }
  for (const { toolUse } of blocks) {
    if (toolUse) toolUse.input = JSON.parse(toolUse.input || "{}");
  }
  return { output: { message: { role: "assistant", content: blocks } }, stopReason, usage };
}

// converse asks Bedrock's client and answers tool calls until there are none.
async function converse({ base, stream, retries, json }) {
  const api = bedrock(base, retries);
  const messages = [{ role: "user", content: [{ text: "hi" }] }];
  const toolConfig = { tools: [{ toolSpec: { name: "weather", description: "the weather", inputSchema: { json: weatherJSON } } }] };
  const jsonSchema = { name: "forecast", schema: JSON.stringify(forecastJSON) };
  const outputConfig = json ? { textFormat: { type: "json_schema", structure: { jsonSchema } } } : undefined;
  for (;;) {
    const input = { modelId: model, outputConfig, messages, toolConfig, system: [{ text: "Be brief." }], inferenceConfig: { maxTokens: 100 } };
    const answer = stream
      ? await converseMessage((await api.send(new ConverseStreamCommand(input))).stream)
      : await api.send(new ConverseCommand(input));
    const { content } = answer.output.message;
    const of = (kind) => content.filter((block) => block[kind] !== undefined).map((block) => block[kind]);
    if (of("toolUse").length === 0) {
      return {
        text: of("text").join(""),
        thinking: of("reasoningContent").map((r) => r.reasoningText.text).join(""),
        finish: answer.stopReason,
        output: answer.usage?.outputTokens,
      };
    }
    messages.push(answer.output.message);
    const results = of("toolUse").map(({ toolUseId, input }) => {
      if (typeof input !== "object") throw new Error("the input is not an object");
      return { toolResult: { toolUseId, content: [{ text: rain(input) }] } };
    });
    messages.push({ role: "user", content: results });
  }
}

// converseImage sends an image to a model whose name needs escaping.
async function converseImage({ base, stream }) {
  const image = { format: "png", source: { bytes: Buffer.from(png, "base64") } };
  const document = { format: "pdf", name: "a", source: { bytes: Buffer.from(png, "base64") } };
  const messages = [{ role: "user", content: [{ text: "what is this?" }, { image }, { document }] }];
  const modelId = "arn:aws:bedrock:us-east-1:123456789012:inference-profile/eu.anthropic.claude-x-v1:0";
  const api = bedrock(base, 0);
  const answer = stream
    ? await converseMessage((await api.send(new ConverseStreamCommand({ modelId, messages }))).stream)
    : await api.send(new ConverseCommand({ modelId, messages }));
  return { text: answer.output.message.content[0].text, output: answer.usage.outputTokens };
}

export const natives = { ollama, generate, ollamaModels, converse, converseImage };
