import { startFakeAgentLLM } from 'skillopt/testing';
import { describe, expect, it } from 'vitest';

// biome-ignore lint/suspicious/noExplicitAny: bodies of four providers
type Json = any;

const schema = (...names: string[]) => ({
  type: 'object',
  properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
  required: names,
});
const tools: readonly [string, string, object][] = [
  ['Skill', 'Loads one of these:\n- invoices: Writes invoices.\n- letters: Writes letters.', schema('skill')],
  ['Bash', 'Runs a command', schema('command', 'description')],
  ['Write', 'Writes a file', schema('file_path', 'content')],
  ['Read', 'Reads a file', schema('file_path')],
  ['Workflow', 'Has these values:\n- total: The sum of all invoices.', schema('text')],
];
const told = 'Working directory: /srv/here.';

type Dialect = {
  readonly name: string;
  readonly path: string;
  body(prompt: string, results: readonly string[]): object;
  callIn(body: Json): { name: string; args: Json } | undefined;
  textIn(body: Json): string | undefined;
};

const dialects: readonly Dialect[] = [
  {
    name: 'Anthropic Messages',
    path: '/v1/messages',
    body: (prompt, results) => ({
      system: [{ type: 'text', text: told }],
      tools: tools.map(([name, description, input_schema]) => ({ name, description, input_schema })),
      messages: [
        { role: 'user', content: [{ type: 'text', text: '<system-reminder>- letters</system-reminder>' }] },
        { role: 'user', content: prompt },
        ...results.map((content) => ({ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'x', content }] })),
      ],
    }),
    callIn: ({ content: [{ name, input }] }) => name && { name, args: input },
    textIn: ({ content: [{ text }] }) => text,
  },
  {
    name: 'Chat Completions',
    path: '/v1/chat/completions',
    body: (prompt, results) => ({
      tools: tools.map(([name, description, parameters]) => ({
        type: 'function',
        function: { name, description, parameters },
      })),
      messages: [
        { role: 'system', content: told },
        { role: 'user', content: prompt },
        ...results.map((content) => ({ role: 'tool', tool_call_id: 'x', content })),
      ],
    }),
    callIn: ({ choices: [{ message }] }) => openaiCall(message.tool_calls?.[0]?.function),
    textIn: ({ choices: [{ message }] }) => message.content,
  },
  {
    name: 'Responses',
    path: '/v1/responses',
    body: (prompt, results) => ({
      instructions: told,
      tools: tools.map(([name, description, parameters]) => ({ type: 'function', name, description, parameters })),
      input: [
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: prompt }] },
        ...results.map((output) => ({ type: 'function_call_output', call_id: 'x', output })),
      ],
    }),
    callIn: ({ output: [item] }) => openaiCall(item.type === 'function_call' ? item : undefined),
    textIn: ({ output: [item] }) => item.content?.[0]?.text,
  },
  {
    name: 'Gemini',
    path: '/v1beta/models/some:generateContent',
    body: (prompt, results) => ({
      systemInstruction: { parts: [{ text: told }] },
      tools: [
        { functionDeclarations: tools.map(([name, description, parameters]) => ({ name, description, parameters })) },
      ],
      contents: [
        { role: 'user', parts: [{ text: prompt }] },
        ...results.map((output) => ({
          role: 'user',
          parts: [{ functionResponse: { name: 'x', response: { output } } }],
        })),
      ],
    }),
    callIn: ({ candidates: [{ content }] }) => content.parts[0].functionCall,
    textIn: ({ candidates: [{ content }] }) => content.parts[0].text,
  },
];

const openaiCall = (call: Json) => call && { name: call.name, args: JSON.parse(call.arguments) };

describe.each(dialects)('startFakeAgentLLM in $name', ({ path, body, callIn, textIn }) => {
  const ask = async (url: string, prompt: string, results: readonly string[] = []) => {
    const reply = await fetch(`${url}${path}`, { method: 'POST', body: JSON.stringify(body(prompt, results)) });
    const answer = await reply.json();
    return reply.ok ? (callIn(answer) ?? textIn(answer)) : reply.status;
  };

  it('goes through its script with the tools on offer, by the results it is shown', async () => {
    await using llm = await startFakeAgentLLM({
      script: [
        { skill: 'invoices' },
        { write: 'a.txt', content: 'A' },
        { read: '/b.txt' },
        { shell: 'ls' },
        { call: 'Own', args: { x: 1 } },
        { fail: 418 },
        { text: 'bye' },
      ],
    });
    const said = [];
    for (let done = 0; done < 8; done++) said.push(await ask(llm.url, 'Do it.', Array(done).fill('ok')));
    expect(said).toEqual([
      { name: 'Skill', args: { skill: 'invoices' } },
      { name: 'Write', args: { file_path: '/srv/here/a.txt', content: 'A' } },
      { name: 'Read', args: { file_path: '/b.txt' } },
      { name: 'Bash', args: { command: 'ls', description: expect.any(String) } },
      { name: 'Own', args: { x: 1 } },
      418,
      'bye',
      'done',
    ]);
    expect(llm.calls()).toBe(7);
    expect(await ask(llm.url, 'Do it.')).toEqual(said[0]);
  });

  it('follows the skill that shares a word with the prompt, and its lines alone', async () => {
    await using llm = await startFakeAgentLLM({ policy: 'follow' });
    const loaded = 'The skill:\nDO: make one\n  DO: make two\nNot DO: this';
    expect(await ask(llm.url, 'Two invoices, please')).toEqual({ name: 'Skill', args: { skill: 'invoices' } });
    const then = [await ask(llm.url, 'Two invoices', [loaded]), await ask(llm.url, 'Two invoices', [loaded, 'DO: no'])];
    expect(then).toMatchObject([{ args: { command: 'make one' } }, { args: { command: 'make two' } }]);
    expect(await ask(llm.url, 'Two invoices', [loaded, 'DO: no', ''])).toBe('done');
    expect(await ask(llm.url, 'What time is it?')).toBe('done');
    await using other = await startFakeAgentLLM({ policy: 'follow', only: ['letters'] });
    expect(await ask(other.url, 'Two invoices, please')).toBe('done');
  });

  it('tells of other tokens for each request, and adds them up; refuses and hangs when it is to', async () => {
    await using llm = await startFakeAgentLLM({ script: [] });
    await ask(llm.url, 'short');
    const one = llm.usage();
    await ask(llm.url, 'much longer than that');
    expect(llm.usage().input - one.input).toBeGreaterThan(one.input);
    expect(one.cached).toBeGreaterThan(0);
    llm.failWith(429, { times: 1 });
    expect([await ask(llm.url, 'x'), await ask(llm.url, 'x')]).toEqual([429, 'done']);
    llm.failWith(500);
    expect([await ask(llm.url, 'x'), await ask(llm.url, 'x')]).toEqual([500, 500]);
    llm.failWith(undefined);
    llm.hang(60_000);
    const hanging = fetch(`${llm.url}${path}`, { method: 'POST', body: '{}', signal: AbortSignal.timeout(100) });
    await expect(hanging).rejects.toThrow();
    expect([llm.calls(), llm.requests.length]).toEqual([3, 7]);
  });
});

it('writes a program for an agent whose tools are called by one, and come in the input', async () => {
  await using llm = await startFakeAgentLLM({ script: [{ shell: 'ls -l' }] });
  const exec = { type: 'custom', name: 'exec', description: 'Runs JavaScript, which may call tools.exec_command(…).' };
  const added = { type: 'additional_tools', tools: [{ type: 'namespace', name: 'functions', tools: [exec] }] };
  const asked = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Do it.' }] };
  const ask = async (...results: object[]): Promise<Json> => {
    const body = JSON.stringify({ input: [added, asked, ...results] });
    const reply = await fetch(`${llm.url}/v1/responses`, { method: 'POST', body });
    return ((await reply.json()) as Json).output[0];
  };
  const first = await ask();
  expect(first).toMatchObject({ type: 'custom_tool_call', name: 'exec' });
  expect(first.input).toContain('tools.exec_command({"cmd":"ls -l"})');
  const last = await ask({ type: 'custom_tool_call_output', call_id: 'x', output: 'nothing' });
  expect(last.content[0].text).toBe('done');
});
