import { mkdirSync, symlinkSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { type AgentCliName, agentChat, agentClis, detectAgents, requireInstalled } from 'skillopt/agents';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../support/temp-folder.ts';
import { fakeCli, prints } from './fake-cli.ts';

const names = Object.keys(agentClis) as AgentCliName[];
const messages = [{ role: 'user' as const, content: 'hello' }];

/** Variables of somebody who works: none of them is for an agent CLI. */
const FOREIGN = {
  AWS_SECRET_ACCESS_KEY: 'aws',
  AWS_PROFILE: 'work',
  DATABASE_URL: 'postgres://u:p@db/x',
  NPM_TOKEN: 'npm',
  SSH_AUTH_SOCK: '/run/agent',
  KUBECONFIG: '/k',
  STRIPE_API_KEY: 'stripe',
  NODE_OPTIONS: '--no-warnings',
  LD_LIBRARY_PATH: '/evil',
  GOOGLE_CLIENT_SECRET: 'client',
  BASH_ENV: '/evil.sh',
};

/** What every program gets, and each CLI's own. */
const NEEDED = {
  LANG: 'de_DE.UTF-8',
  LC_ALL: 'C',
  TERM: 'xterm',
  HTTPS_PROXY: 'http://proxy:1',
  no_proxy: 'localhost',
};
const OWN: Readonly<Record<AgentCliName, Readonly<Record<string, string>>>> = {
  'claude-cli': {
    ANTHROPIC_API_KEY: 'k',
    ANTHROPIC_BASE_URL: 'u',
    CLAUDE_CODE_OAUTH_TOKEN: 't',
    CLAUDE_CONFIG_DIR: '/c',
  },
  'codex-cli': { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: 'u', CODEX_API_KEY: 'k' },
  'copilot-cli': { COPILOT_GITHUB_TOKEN: 't', GH_TOKEN: 't', GITHUB_TOKEN: 't', COPILOT_PROVIDER_API_KEY: 'k' },
  'cursor-cli': { CURSOR_API_KEY: 'k' },
  'gemini-cli': { GEMINI_API_KEY: 'k', GOOGLE_API_KEY: 'k', GOOGLE_CLOUD_PROJECT: 'p', GOOGLE_GEMINI_BASE_URL: 'u' },
  'opencode-cli': { OPENCODE_CONFIG_CONTENT: '{}', OPENROUTER_API_KEY: 'k', ANTHROPIC_API_KEY: 'k' },
  'pi-cli': { PI_CODING_AGENT_DIR: '/p', MISTRAL_API_KEY: 'k', OPENAI_API_KEY: 'k' },
  'qwen-cli': { QWEN_HOME: '/q', OPENAI_API_KEY: 'k', DASHSCOPE_API_KEY: 'k' },
};

/** What a real program is started with when somebody with these variables asks it. */
async function started(cli: AgentCliName, inherited: Record<string, string>, more: object = {}) {
  using fake = fakeCli(agentClis[cli].binary, {});
  const [HOME, PATH] = [fake.home, `${dirname(fake.path)}:/somewhere/else:/usr/bin`];
  const call = agentChat({ cli, inherited: { HOME, PATH, ...inherited }, ...more }).complete({ messages });
  await call.catch(() => {}); // it prints no answer
  return { ...fake.given(), bin: dirname(fake.path), home: fake.home };
}

describe('what an agent CLI inherits', () => {
  it.each(names)('%s: what it needs and nothing else, in an empty folder', async (cli) => {
    const inherited = { ...FOREIGN, GITHUB_TOKEN: 'gh', ...NEEDED, ...OWN[cli] };
    const { env, entries, cwd, home, bin } = await started(cli, inherited);
    const leaked = Object.keys(env).filter(
      (name) => name in FOREIGN || (name === 'GITHUB_TOKEN' && !('GITHUB_TOKEN' in OWN[cli])),
    );
    expect(leaked).toEqual([]);
    expect(env).toMatchObject({ HOME: home, ...NEEDED, ...OWN[cli] });
    expect(entries).toEqual([]);
    expect(cwd).not.toBe(process.cwd());
    // The search path leads to itself and the system. It is not that of its caller.
    const folders = env.PATH!.split(delimiter);
    expect(folders[0]).toBe(bin);
    expect(folders).toContain('/usr/bin');
    expect(folders).not.toContain('/somewhere/else');
  });

  it.each(names)('%s: what is named with passEnv, too', async (cli) => {
    const { env } = await started(cli, FOREIGN, { passEnv: ['DATABASE_URL', 'KUBECONFIG', 'NOT_SET'] });
    expect(env).toMatchObject({ DATABASE_URL: FOREIGN.DATABASE_URL, KUBECONFIG: '/k' });
    expect(env).not.toHaveProperty('NPM_TOKEN');
    expect(env).not.toHaveProperty('NOT_SET');
  });

  it.each(names)('%s: as little when it is asked for its version', async (cli) => {
    using fake = fakeCli(agentClis[cli].binary, prints('1.2.3\n'));
    const inherited = { ...FOREIGN, ...NEEDED, HOME: fake.home, PATH: `${dirname(fake.path)}:/somewhere/else` };
    expect(await detectAgents(inherited)).toMatchObject([{ cli, version: '1.2.3' }]);
    const { env, entries } = fake.given();
    expect(Object.keys(env).filter((name) => name in FOREIGN)).toEqual([]);
    expect(env).toMatchObject(NEEDED);
    expect(entries).toEqual([]);
  });

  it('the keys of a cloud only when the CLI is told to use it', async () => {
    expect((await started('claude-cli', FOREIGN)).env).not.toHaveProperty('AWS_PROFILE');
    const { env } = await started('claude-cli', { ...FOREIGN, CLAUDE_CODE_USE_BEDROCK: '1' });
    expect(env).toMatchObject({ AWS_PROFILE: 'work', AWS_SECRET_ACCESS_KEY: 'aws' });
  });
});

describe('a program that a project brings along', () => {
  const run = (cli: AgentCliName, path: string, project: string) =>
    requireInstalled({ cli, project, inherited: { HOME: '/home/nobody', PATH: path } });
  const refused = expect.objectContaining({
    code: 'CONFIG_INVALID',
    hint: expect.stringContaining('but programs that a project brings along are never used. Install it: '),
  });

  it.each(names)('%s: is not found in node_modules/.bin, wherever that is', (cli) => {
    using fake = fakeCli(join('node_modules/.bin', agentClis[cli].binary), {});
    expect(() => run(cli, dirname(fake.path), '/nowhere')).toThrow(refused);
    expect(() => run(cli, `${dirname(fake.path)}/../.bin/`, '/nowhere')).toThrow(refused);
  });

  it.each(names)('%s: is not found in the project, nor through a link into it', (cli) => {
    using fake = fakeCli(agentClis[cli].binary, {});
    using elsewhere = tempFolder();
    const project = dirname(dirname(fake.path));
    const [folder, file] = [join(elsewhere.path, 'bin'), join(elsewhere.path, 'links')];
    symlinkSync(dirname(fake.path), folder);
    mkdirSync(file);
    symlinkSync(fake.path, join(file, agentClis[cli].binary));
    for (const path of [dirname(fake.path), folder, file]) {
      expect(() => run(cli, path, project)).toThrow(refused);
      expect(run(cli, path, '/nowhere')).toBe(fake.path);
    }
  });

  it('is not found in the checkout around the folder either', () => {
    using fake = fakeCli('claude', {});
    const checkout = dirname(dirname(fake.path));
    mkdirSync(join(checkout, '.git'));
    mkdirSync(join(checkout, 'packages/shop'), { recursive: true });
    expect(() => run('claude-cli', dirname(fake.path), join(checkout, 'packages/shop'))).toThrow(refused);
  });

  it('a home in a repository is no project', () => {
    using fake = fakeCli('claude', {});
    const home = dirname(dirname(fake.path));
    mkdirSync(join(home, '.git'));
    const inherited = { HOME: home, PATH: dirname(fake.path) };
    for (const project of [home, join(home, 'home')])
      expect(requireInstalled({ cli: 'claude-cli', project, inherited })).toBe(fake.path);
  });
});
