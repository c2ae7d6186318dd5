import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { mcpClient } from '../../support/mcp/mcp-client.ts';
import { sleepHome } from '../../support/sleep/sleep-home.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const SKILL = '---\nname: good\ndescription: Names capitals of countries.\n---\n# Capitals\n';

/** What a project may hold in place of a text that we read, and what is said of it. */
const NO_TEXTS = {
  'a pipe': { make: (path: string) => execFileSync('mkfifo', [path]), says: 'expected a file, got a pipe' },
  'an endless device': {
    make: (path: string) => symlinkSync('/dev/zero', path),
    says: 'expected a file, got a device',
  },
  'a huge file': {
    make: (path: string) => {
      writeFileSync(path, '');
      truncateSync(path, 1e9); // without content on the disk
    },
    says: 'expected at most 4 MB, got 1000 MB',
  },
};

describe.skipIf(process.platform === 'win32').each(Object.entries(NO_TEXTS))('%s in a project', (_, { make, says }) => {
  it('is named in place of many skills, and the next call is answered', async () => {
    using folder = tempFolder({ 'good/SKILL.md': SKILL });
    await using client = mcpClient();
    await client.open();
    for (const name of 'abcdefgh') {
      mkdirSync(join(folder.path, name));
      make(join(folder.path, name, 'SKILL.md'));
    }
    const before = process.memoryUsage().rss;
    const refused = await client.call('skill_lint', { path: folder.path });
    expect(refused.structuredContent).toMatchObject({
      code: 'SKILL_NOT_FOUND',
      message: expect.stringContaining(says),
    });
    const alone = await client.call('skill_lint', { path: join(folder.path, 'a/SKILL.md') });
    expect(alone.structuredContent.message).toContain(says);
    expect(process.memoryUsage().rss - before).toBeLessThan(200e6);
    expect((await client.call('skill_lint', { path: join(folder.path, 'good') })).isError).toBeFalsy();
  });

  it.each(['skillopt.config.yaml', 'skillopt.config.json', '.env'])('is named in place of %s', async (name) => {
    using home = sleepHome();
    home.said();
    await using client = mcpClient({ env: home.env });
    await client.open();
    home.write('shop/skillopt.config.yaml', 'sleep:\n  target: openai:m\n');
    if (name !== '.env') rmSync(join(home.shop, 'skillopt.config.yaml'));
    make(join(home.shop, name));
    const { structuredContent } = await client.call('sleep_plan', { project: home.shop });
    const { message, problems } = structuredContent; // a plan says what stands against it
    expect(message ?? problems[0]).toContain(says);
    expect(message ?? problems[0]).toContain(name);
  });
});

it('a journal that is a link is not read, and no line of it is quoted', async () => {
  using folder = tempFolder({ 'secrets.env': 'AWS_SECRET=abcd1234\n', 'run/report.md': '' });
  await using client = mcpClient();
  await client.open();
  symlinkSync('../secrets.env', join(folder.path, 'run/events.jsonl'));
  const { structuredContent } = await client.call('run_status', { run: join(folder.path, 'run') });
  expect(structuredContent).toMatchObject({ state: 'unreadable', problem: expect.stringContaining('is a link, and') });
  expect(JSON.stringify(structuredContent)).not.toContain('AWS_SECRET');
});
