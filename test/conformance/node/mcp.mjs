// Clients of MCP servers: the official ones, and agents of frameworks that give a model the server's tools. A case
// has the server's url or the command line that starts it. Frameworks that take long to load are loaded when they are used.
import { createOpenAI } from "@ai-sdk/openai";
import { createMCPClient } from "@ai-sdk/mcp";
import { Experimental_StdioMCPTransport as FrameworkStdio } from "@ai-sdk/mcp/mcp-stdio";
import { MultiServerMCPClient } from "@langchain/mcp-adapters";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Client as Client1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as Stdio1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as HTTP1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { MCPServerStdio, MCPServerStreamableHttp } from "@openai/agents-core";
import { agents } from "./agents.mjs";
import { apiKey, model } from "./forecast.mjs";
import { graph, openai } from "./langchain.mjs";
import { framework } from "./vercel.mjs";

const timeout = 3000; // a client waits as long for the answer that a malformed message replaces
const program = ([command, ...args]) => ({ command, args });

// direct calls a tool with a client of the official SDK, or reads all that the server offers.
const direct = (Client, HTTP, Stdio, ...schema) => async ({ url, command, feature }) => {
  const client = new Client({ name: "spec", version: "1" });
  await client.connect(url ? new HTTP(new URL(url)) : new Stdio({ ...program(command), stderr: "ignore" }));
  try {
    if (feature === "offers") {
      const { tools } = await client.listTools();
      const { contents } = await client.readResource({ uri: (await client.listResources()).resources[0].uri });
      const prompt = await client.getPrompt({ name: (await client.listPrompts()).prompts[0].name });
      return { text: [tools.map((t) => t.name).join(), contents[0].text, prompt.messages[0].content.text].join("|") };
    }
    const result = await client.callTool({ name: "lookup", arguments: { id: "1" } }, ...schema, { timeout });
    return { text: JSON.stringify(result.structuredContent) ?? result.content[0].text, finish: result.isError ? "error" : "" };
  } finally {
    await client.close();
  }
};

async function vercel(c) {
  const transport = c.url ? { type: "http", url: c.url } : new FrameworkStdio(program(c.command));
  const client = await createMCPClient({ transport });
  try {
    return await framework(({ base: baseURL }) => createOpenAI({ baseURL, apiKey }).chat(model), await client.tools())(c);
  } finally {
    await client.close();
  }
}

async function langgraph(c) {
  const tickets = c.url ? { transport: "http", url: c.url } : { transport: "stdio", ...program(c.command) };
  const client = new MultiServerMCPClient({ mcpServers: { tickets }, defaultToolTimeout: timeout });
  try {
    return await graph(openai(false), await client.getTools())(c);
  } finally {
    await client.close();
  }
}

async function openaiAgents(c) {
  const name = "tickets";
  const server = c.url ? new MCPServerStreamableHttp({ url: c.url, name, timeout }) : new MCPServerStdio({ ...program(c.command), name, timeout });
  await server.connect();
  try {
    return await agents(false, { mcpServers: [server] })(c);
  } finally {
    await server.close();
  }
}

async function mastraAgent(c) {
  const { MCPClient } = await import("@mastra/mcp");
  const { mastra } = await import("./mastra.mjs");
  const tickets = c.url ? { url: new URL(c.url) } : program(c.command);
  const client = new MCPClient({ servers: { tickets }, timeout });
  try {
    return await mastra((baseURL) => createOpenAI({ baseURL, apiKey }).chat(model), await client.listTools())(c);
  } finally {
    await client.disconnect();
  }
}

async function llamaindex(c) {
  const { mcp } = await import("@llamaindex/tools");
  const { ask, chat } = await import("./llamaindex.mjs");
  const client = mcp(c.url ? { url: c.url } : program(c.command));
  const call = client.mcp.callTool.bind(client.mcp);
  client.mcp.callTool = (params) => call(params, undefined, { timeout }); // it has no option for that, and waits for a minute
  try {
    return await ask(chat, await client.tools())({ ...c, tool: true });
  } finally {
    await client.cleanup();
  }
}

export const clients = {
  client: direct(Client, StreamableHTTPClientTransport, StdioClientTransport),
  sdk: direct(Client1, HTTP1, Stdio1, undefined),
  vercel,
  langgraph,
  agents: openaiAgents,
  mastra: mastraAgent,
  llamaindex,
};
