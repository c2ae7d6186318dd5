import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { openingAnswer } from '../../../src/mcp/index.ts';
import { countTokens } from '../../../src/models/index.ts';
import { mcpClient } from '../../support/mcp/mcp-client.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const NAMES = [
  'sleep_status',
  'sleep_plan',
  'sleep_run',
  'sleep_job',
  'sleep_report',
  'sleep_adopt',
  'run_status',
  'skill_lint',
];

describe('the MCP server', () => {
  it.each(['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'])(
    'answers the first initialize of %s as the SDK does',
    async (protocolVersion) => {
      const params = { protocolVersion, capabilities: {}, clientInfo: { name: 'c', version: '1' } };
      await using client = mcpClient();
      await client.request('tools/list'); // then it is not the first message, and the SDK answers
      const answer = await client.request('initialize', params);
      expect(openingAnswer({ id: answer.id, method: 'initialize', params }, '1.2.3')).toEqual(answer);
      await using other = mcpClient();
      expect((await other.request('initialize', params)).result).toEqual(answer.result);
      await other.request('ping');
      expect(other.lines.filter((line) => line.includes('protocolVersion'))).toHaveLength(1);
    },
  );

  it('leaves other handshakes to the SDK', async () => {
    const whole = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'c', version: '1' } };
    const { clientInfo: _, ...nameless } = whole;
    for (const params of [{}, nameless, { ...whole, protocolVersion: '1999-01-01' }, { ...whole, _meta: {} }])
      expect(openingAnswer({ id: 1, method: 'initialize', params }, '1')).toBeUndefined();
    await using client = mcpClient();
    const { result } = await client.request('initialize', { ...whole, protocolVersion: '1999-01-01' });
    expect(result.protocolVersion).toMatch(/^20\d\d-/);
  });

  it('lists eight tools with strict inputs and hints, in at most 2,000 tokens', async () => {
    await using client = mcpClient();
    await client.open();
    const { result } = await client.request('tools/list');
    expect(result.tools.map(({ name }: { name: string }) => name)).toEqual(NAMES);
    for (const { inputSchema, annotations, description } of result.tools) {
      expect(inputSchema).toMatchObject({ type: 'object', additionalProperties: false });
      expect(Object.keys(annotations)).toHaveLength(4);
      expect(description.length).toBeGreaterThan(20);
    }
    expect(await countTokens(JSON.stringify(result))).toBeLessThanOrEqual(2_000);
  });

  it('never guesses the project', async () => {
    await using client = mcpClient({ env: { HOME: '/nowhere', SKILLOPT_HOME: '/nowhere/state' } });
    await client.open();
    for (const name of ['sleep_status', 'sleep_plan', 'sleep_report']) {
      const missing = await client.call(name);
      expect([missing.isError, missing.content[0].text]).toEqual([true, expect.stringContaining('PROJECT_REQUIRED')]);
      const relative = await client.call(name, { project: '.' });
      expect([relative.isError, relative.structuredContent.code]).toEqual([true, 'USAGE']);
    }
    const unknown = await client.call('sleep_status', { project: '/', extra: 1 });
    expect(unknown.isError).toBe(true);
  });

  it('answers what is no message with an error, and goes on', async () => {
    await using client = mcpClient();
    await client.open();
    const ids = fc.oneof(fc.integer(), fc.string(), fc.constant(null), fc.object());
    const noMessage = fc.oneof(
      fc.string().filter((text) => !/[\n\r]/.test(text) && text.trim() !== '' && !isObjectText(text)),
      fc.array(fc.anything()).map((value) => JSON.stringify(value) ?? '[]'),
      fc
        .record({ jsonrpc: fc.constantFrom('1.0', 2, null), id: ids, method: fc.string() })
        .map((one) => JSON.stringify(one)),
      fc
        .record({ jsonrpc: fc.constant('2.0'), id: fc.object(), method: fc.string() })
        .map((one) => JSON.stringify(one)),
      fc
        .record({ jsonrpc: fc.constant('2.0'), id: fc.integer(), method: fc.integer() })
        .map((one) => JSON.stringify(one)),
      fc
        .record({ jsonrpc: fc.constant('2.0'), id: fc.integer(), method: fc.string(), params: fc.array(fc.anything()) })
        .map((one) => JSON.stringify(one)),
      fc.constant(`{"jsonrpc":"2.0","id":1,"method":"${'x'.repeat(4_000_001)}"}`),
      fc.constantFrom(
        '{"jsonrpc":"2.0","id":1,"method":"ping","extra":1}',
        '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":5}}',
        '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"progressToken":{}}}}',
        '{"jsonrpc":"2.0","id":1e300,"method":"ping"}',
        '{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}',
      ),
    );
    await fc.assert(
      fc.asyncProperty(noMessage, async (line) => {
        const before = client.lines.length;
        client.send(line);
        await client.request('ping');
        const [first] = client.lines.slice(before).map((one) => JSON.parse(one));
        expect(first.error.code).toBeOneOf([-32700, -32600]);
      }),
      { numRuns: 200 },
    );
  });

  it('answers requests that nobody knows with an error each, whatever they hold', async () => {
    using folder = tempFolder();
    await using client = mcpClient({ env: { HOME: folder.path, SKILLOPT_HOME: `${folder.path}/state` } });
    await client.open();
    const odd = fc.oneof(
      fc.string(),
      fc.integer(),
      fc.constantFrom('../../etc', '/etc/passwd', '\u0000', '~'),
      fc.object(),
    );
    const calls = fc.record({
      name: fc.oneof(fc.constantFrom(...NAMES), fc.string(), fc.constantFrom('__proto__', 'constructor')),
      arguments: fc.dictionary(fc.constantFrom('project', 'jobId', 'path', 'run', 'id', 'digest', 'planDigest'), odd),
    });
    await fc.assert(
      fc.asyncProperty(calls, async (params) => {
        const { result, error } = await client.request('tools/call', params);
        if (result && !result.isError)
          expect(params.name).toBe('skill_lint'); // /etc/passwd is a file that can be checked
        else expect(error ?? result.isError).toBeTruthy();
      }),
      { numRuns: 200 },
    );
  });

  it('gives each id back as it came, and lets nothing act on a terminal', async () => {
    await using client = mcpClient();
    const ids = ['\ud800', '\u001b[2J\u0007', '\u009b31m', 'a\u202eb', '', '<U+D800>', '9', 9, -1, 0];
    await client.open();
    for (const id of ids) {
      const before = client.lines.length;
      client.send(JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'run_status' } }));
      await client.request('ping');
      await expect.poll(() => client.lines.slice(before).some((line) => JSON.parse(line).id === id)).toBe(true);
    }
    const signs = [...client.lines.join('')];
    expect(signs.filter((sign) => /[\p{Cc}\p{Cf}\p{Cs}]/u.test(sign))).toEqual([]);
  });

  it('answers a request that is too long under its id, wherever that stands', async () => {
    await using client = mcpClient();
    await client.open();
    const long = 'x'.repeat(4_000_001);
    const call = { jsonrpc: '2.0', method: 'tools/call', params: { name: 'sleep_status', arguments: { long, id: 7 } } };
    const idOf = async (line: string) => {
      const before = client.lines.length;
      client.send(line);
      await client.request('ping');
      const { id, error } = JSON.parse(client.lines[before]!);
      expect(error).toMatchObject({ code: -32600, message: expect.stringContaining('4000000 characters') });
      return id;
    };
    expect(await idOf(JSON.stringify({ id: 'first', ...call }))).toBe('first');
    expect(await idOf(JSON.stringify({ ...call, id: 901 }))).toBe(901);
    expect(await idOf(`{ "params": {"long": "${long}"}, "id" : "l\\u0061st", "method":"ping", "jsonrpc":"2.0" }`)).toBe(
      'last',
    );
    const hidden = `,"id":5,"method":"ping"}`;
    expect(await idOf(JSON.stringify({ ...call, params: { long: `${hidden}${long}${hidden}` } }))).toBe(null);
    expect(await idOf(JSON.stringify({ jsonrpc: '2.0', params: { long, id: 5, method: 'ping' } }))).toBe(null);
    expect(await idOf(JSON.stringify({ jsonrpc: '2.0', id: 0, result: { long } }))).toBe(null);
    expect(await idOf(long)).toBe(null);
  });

  it('bounds what acts at once, and lets a ping pass by', async () => {
    using folder = tempFolder({ 'project/.keep': '' });
    await using client = mcpClient({ env: { HOME: folder.path, SKILLOPT_HOME: `${folder.path}/state` } });
    await client.open();
    const calls = Array.from({ length: 2_000 }, () =>
      client.call('sleep_status', { project: `${folder.path}/project` }),
    );
    const before = performance.now();
    await client.request('ping');
    await client.request('tools/list');
    expect(performance.now() - before).toBeLessThan(10_000);
    const answers = await Promise.all(calls);
    const refused = answers.filter(({ isError }) => isError);
    expect(answers.length - refused.length).toBeGreaterThanOrEqual(64);
    expect(refused.length).toBeGreaterThan(1_000);
    expect(refused[0]!.structuredContent).toMatchObject({ message: '64 calls are not answered yet' });
    expect((await client.call('sleep_status', { project: `${folder.path}/project` })).isError).toBeFalsy();
  });

  it('says of a path what is wrong with it', async () => {
    using folder = tempFolder({ 'a-file': '' });
    await using client = mcpClient({ env: { HOME: folder.path, SKILLOPT_HOME: `${folder.path}/state` } });
    await client.open();
    const messages = async (path: string) => {
      const answers = [
        ...['sleep_status', 'sleep_plan', 'sleep_report'].map((name) => client.call(name, { project: path })),
        client.call('run_status', { run: path }),
        client.call('skill_lint', { path }),
      ];
      return (await Promise.all(answers)).map(({ structuredContent }) => structuredContent.message as string);
    };
    for (const message of await messages('/does/not/exist'))
      expect(message).toMatch(/^expected .* at "\/does\/not\/exist": there is nothing$/);
    for (const message of (await messages(`${folder.path}/a-file`)).slice(0, 4))
      expect(message).toMatch(/, got a file$/);
    for (const message of await messages('~/x'))
      expect(message).toMatch(/^expected the absolute path of .*, got "~\/x"$/);
  });

  it('answers a long text that it refuses with its beginning alone', async () => {
    await using client = mcpClient();
    await client.open();
    const long = 'x'.repeat(1_000_000);
    const calls = [
      ...[{ project: long }, { project: `/${long}` }, { project: '/', [long]: 1 }].map((input) => [
        'sleep_status',
        input,
      ]),
      ...[
        ['skill_lint', { path: `/${long}` }],
        ['sleep_job', { jobId: long }],
        [long, {}],
      ],
      ['sleep_adopt', { project: '/', id: long, digest: long }],
    ] as const;
    for (const [name, input] of calls) {
      const before = client.lines.length;
      const { error, result } = await client.request('tools/call', { name, arguments: input });
      expect(error ?? result.isError).toBeTruthy();
      expect(client.lines.slice(before).join('').length).toBeLessThan(10_000);
    }
  });

  it('says in words what an initialize lacks', async () => {
    await using client = mcpClient();
    const { error } = await client.request('initialize', {});
    expect(error).toEqual({
      code: -32602,
      message: 'initialize needs protocolVersion (text), capabilities (an object), clientInfo (name and version)',
    });
    const partly = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c' } };
    expect((await client.request('initialize', partly)).error!.message).toBe(
      'initialize needs clientInfo (name and version)',
    );
    expect(await client.open()).toMatchObject({ result: { protocolVersion: '2025-11-25' } });
  });

  it('says the same as text and as values', async () => {
    using folder = tempFolder();
    await using client = mcpClient();
    await client.open();
    const { writeFileSync } = await import('node:fs');
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary' }), async (text) => {
        writeFileSync(`${folder.path}/SKILL.md`, `---\nname: ${JSON.stringify(text)}\n---\n${text}`);
        const { content, structuredContent } = await client.call('skill_lint', { path: folder.path });
        expect(parse(content[0].text)).toEqual(structuredContent);
      }),
      { numRuns: 60 },
    );
  });
});

function isObjectText(text: string): boolean {
  try {
    return typeof JSON.parse(text) === 'object';
  } catch {
    return false;
  }
}
