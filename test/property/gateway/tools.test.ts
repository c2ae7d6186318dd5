import fc from 'fast-check';
import { startModelGateway } from 'skillopt/models';
import { expect, it } from 'vitest';
import { startProvider } from '../../unit/models/gateway/gateway-calls.ts';

const word = fc.constantFrom('web_search', 'mcp', 'function', 'bash_20250124', 'https://a.example', 'data:,x', 'x');
const key = fc.constantFrom(
  ...['type', 'name', 'url', 'text', 'image_url', 'source', 'tools', 'content', 'input', 'function', 'file_data', 'a'],
);
const { anything } = fc.letrec<{ anything: unknown }>((tie) => ({
  anything: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.oneof(word, fc.string(), fc.integer(), fc.constant(null), fc.boolean()),
    fc.array(tie('anything'), { maxLength: 3 }),
    fc.dictionary(key, tie('anything'), { maxKeys: 4 }),
  ),
}));

const kinds = [
  ...[
    'function',
    'custom',
    'web_search',
    'web_search_20250305',
    'web_fetch_20250910',
    'mcp',
    'code_interpreter',
    'shell',
  ],
  ...['bash_20250124', 'text_editor_20250728', 'local_shell', 'namespace', 'image_generation', 'BASH_20250124', 'x'],
];
const tool = fc.oneof(
  fc.record({ type: fc.constantFrom(...kinds), name: fc.string() }),
  fc.record({ name: fc.string(), input_schema: fc.dictionary(key, word) }),
  fc.record(
    { functionDeclarations: fc.array(fc.record({ name: fc.string() })), googleSearch: fc.constant({}) },
    { requiredKeys: [] },
  ),
  fc.dictionary(key, word),
  word,
);
const body = fc.record(
  { tools: fc.array(tool, { maxLength: 5 }), messages: anything, system: anything },
  { requiredKeys: ['tools'] },
);

/** What agents run, of the kinds above. */
const RUN_BY_AGENTS = {
  '/v1/messages': ['custom', 'bash_20250124', 'text_editor_20250728'],
  '/v1/chat/completions': ['function', 'custom'],
  '/v1/responses': ['function', 'custom', 'local_shell', 'namespace'],
  '/v1beta/models/m:generateContent': [],
} as const;

async function openGateway() {
  const requests: string[] = [];
  const provider = await startProvider(({ text }, response) => {
    requests.push(text);
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  const upstream = { baseURL: provider.url, auth: { header: 'x-api-key', value: 'the-key' } };
  const gateway = await startModelGateway({ upstream, listen: { port: 0 } });
  /** What reached the provider of one request. */
  const ask = async (path: string, body: string) => {
    const { status } = await fetch(`${gateway.url}${path}`, { method: 'POST', body });
    return { status, sent: requests.splice(0) };
  };
  const close = async () => {
    await gateway[Symbol.asyncDispose]();
    await provider[Symbol.asyncDispose]();
  };
  return { ask, [Symbol.asyncDispose]: close };
}

type Sent = { readonly type?: string };

it.each(Object.entries(RUN_BY_AGENTS))(
  '%s: of any tools a part is sent, and only those that agents run',
  async (path, own) => {
    await using opened = await openGateway();
    const isGoogle = own.length === 0;
    await fc.assert(
      fc.asyncProperty(body, async (asked) => {
        const text = JSON.stringify(asked);
        const { status, sent } = await opened.ask(path, text);
        if (status === 400 && sent.length === 0) return;
        expect(sent).toHaveLength(1);
        const { tools } = JSON.parse(sent[0]!);
        for (const tool of tools as Sent[]) {
          if (isGoogle) expect(['', 'functionDeclarations']).toContain(Object.keys(tool).join());
          else if (tool.type !== undefined) expect(own).toContain(tool.type);
          if (!isGoogle) expect(asked.tools).toContainEqual(tool);
        }
        expect(tools.length > 0 || asked.tools.length === 0, 'not only tools of the provider').toBe(true);
      }),
      { numRuns: 60 },
    );
  },
);

it('a request without tools of the provider and without addresses is sent byte for byte, however it is spelled', async () => {
  await using opened = await openGateway();
  const spelling = fc.tuple(
    fc.json({ maxDepth: 4 }),
    fc.constantFrom('', ' ', '\n\t'),
    fc.constantFrom('1e2', '1.0', '9'.repeat(20)),
  );
  await fc.assert(
    fc.asyncProperty(spelling, async ([json, blank, number]) => {
      const text = `{${blank}"max_tokens":${number},"messages":[{"role":"user","input":${json}}]${blank}}`;
      expect(await opened.ask('/v1/messages', text)).toEqual({ status: 200, sent: [text] });
    }),
    { numRuns: 60 },
  );
});
