import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { ModelCallError } from 'skillopt';
import { type AgentCliName, agentChat, agentClis, detectAgents, requireInstalled } from 'skillopt/agents';
import { afterEach, describe, expect, it } from 'vitest';
import { runCli } from '../../../src/cli/index.ts';
import { captureIo } from '../../support/capture-io.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { fakeCli, prints } from './fake-cli.ts';

const names = Object.keys(agentClis) as AgentCliName[];
const user = (content: string) => [{ role: 'user' as const, content }];

/** What went wrong with a call; a fake CLI that prints nothing is asked unless another environment keeps it from starting. */
async function failureOf(cli: AgentCliName, content: string, env: Record<string, string> = {}): Promise<unknown> {
  using fake = fakeCli(agentClis[cli].binary, {});
  const chat = agentChat({ cli, env: { ...fake.env, ...env } });
  return await chat.complete({ messages: user(content) }).then(
    () => expect.fail('answered'),
    (error: unknown) => error,
  );
}

describe('a long prompt', () => {
  const long = 'word '.repeat(32_000);

  it('cursor-cli: is refused with its size, before anything is started', async () => {
    const error = await failureOf('cursor-cli', long);
    expect(error).toBeInstanceOf(ModelCallError);
    expect(error).toMatchObject({ code: 'PROMPT_TOO_LONG', isRetryable: false, isFatal: false });
    expect((error as Error).message).toBe(
      'cursor-cli:default takes its prompt as an argument of at most 100 kB; this one has 161 kB',
    );
  });

  it('that is refused is no score: the task is errored, the others count', async () => {
    using fake = fakeCli('cursor-agent', prints({ type: 'result', is_error: false, result: 'four' }));
    const rows = ['short', long, 'brief'].map((question, at) => ({ id: `t${at}`, question, answers: ['four'] }));
    using folder = tempFolder({
      'tasks.jsonl': rows.map((row) => JSON.stringify({ ...row, split: 'test' })).join('\n'),
      'SKILL.md': 'Be brief.',
      'skillopt.config.json': JSON.stringify({
        tasks: 'tasks.jsonl',
        maxErroredShare: 0.5,
        target: { provider: 'cursor-cli', path: fake.path },
      }),
    });
    const io = captureIo({ cwd: folder.path });
    await runCli(['eval', '--skill', 'SKILL.md', '--quiet', '--json'], io);
    expect(JSON.parse(io.out())).toMatchObject({ hard: 1, n: 3, errored: 1 });
  });
});

describe('a prompt that could be taken for something else', () => {
  it.each(['--force', '-p', 'logout', '& rm', '-'])(
    'cursor-cli: "%s" is neither an option nor a command',
    async (text) => {
      using fake = fakeCli('cursor-agent', prints({ type: 'result', is_error: false, result: 'four' }));
      await agentChat({ cli: 'cursor-cli', env: fake.env }).complete({ messages: user(text) });
      const prompt = fake.given().args.at(-1)!;
      expect(prompt).toContain(text);
      expect(prompt).toMatch(/^<\w+ from="skillopt">\n/);
    },
  );
});

describe('a program that cannot be started', () => {
  it('cursor-cli: a NUL in the prompt is refused, as no argument can hold it', async () => {
    const error = await failureOf('cursor-cli', 'a\0b');
    expect(error).toBeInstanceOf(ModelCallError);
    expect(error).toMatchObject({ code: 'MODEL_CALL_FAILED', isRetryable: false, isFatal: false });
    expect((error as Error).message).toContain('U+0000');
  });

  it.each([
    ['whose interpreter is not there', '#!/nowhere/interpreter\n', 'ENOENT'],
    ['whose interpreter may not be run', '#!/etc/passwd\n', 'EACCES'],
  ])('every CLI: one %s is fatal', async (_, text, code) => {
    for (const cli of names) {
      using folder = tempFolder();
      const path = join(folder.path, agentClis[cli].binary);
      writeFileSync(path, text);
      chmodSync(path, 0o755);
      const call = agentChat({ cli, path }).complete({ messages: user('hello') });
      const message = expect.stringContaining(code);
      await expect(call).rejects.toMatchObject({ name: 'ModelCallError', isRetryable: false, isFatal: true, message });
    }
  });

  describe('because there is no folder for temporary files', () => {
    const before = process.env.TMPDIR;
    afterEach(() => {
      if (before === undefined) delete process.env.TMPDIR;
      else process.env.TMPDIR = before;
    });

    it('is fatal, with the name of the folder', async () => {
      using fake = fakeCli('claude', {});
      process.env.TMPDIR = join(fake.home, 'missing');
      const call = agentChat({ cli: 'claude-cli', env: fake.env }).complete({ messages: user('hello') });
      const message = expect.stringContaining('missing');
      await expect(call).rejects.toMatchObject({ name: 'ModelCallError', isRetryable: false, isFatal: true, message });
    });
  });
});

describe('PATH', () => {
  const relativeTo = (path: string) => relative(process.cwd(), path);

  it.each(names)('%s: is never found through a relative entry, and the error says so', async (cli) => {
    using fake = fakeCli(agentClis[cli].binary, prints('1.2.3\n'));
    const bin = relativeTo(dirname(fake.path));
    const env = { PATH: `${bin}:/nowhere` };
    const hint = expect.stringContaining(`It is in ${bin}, but entries of PATH that are not absolute are never used.`);
    expect(() => requireInstalled({ cli, env })).toThrow(expect.objectContaining({ hint }));
    expect(await detectAgents({ ...fake.env, ...env })).toEqual([]);
  });

  it('skips the relative entry for the absolute one behind it', () => {
    using fake = fakeCli('claude', {});
    const env = { PATH: `.::${relativeTo(dirname(fake.path))}:${dirname(fake.path)}` };
    expect(requireInstalled({ cli: 'claude-cli', env })).toBe(fake.path);
  });

  it('a path of one’s own may be relative: it is looked up from here, not from the folder of the call', async () => {
    using fake = fakeCli('cursor-agent', prints({ type: 'result', is_error: false, result: 'four' }));
    mkdirSync(join(fake.home, 'x'));
    const chat = agentChat({ cli: 'cursor-cli', path: relativeTo(fake.path), env: fake.env });
    expect(await chat.complete({ messages: user('hello') })).toMatchObject({ text: 'four' });
  });
});
