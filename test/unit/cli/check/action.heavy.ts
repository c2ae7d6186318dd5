import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { COMMAND } from '../../../support/compiled.ts';
import { tempFolder } from '../../../support/temp-folder.ts';
import { fakePrograms, readAction, runAction } from './action-runner.ts';
import { MARKS_FILES, skillThat } from './marks-project.ts';

vi.setConfig({ testTimeout: 400_000 }); // each step starts processes, which a busy machine does slowly

type Comment = { readonly id: number; body: string };

/** The comments of pull request 7 of a/b, behind the part of the API that the action uses. */
async function startGithub(status?: number) {
  const comments: Comment[] = [{ id: 1, body: 'Nice.' }];
  const tokens = new Set<string | undefined>();
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const text = Buffer.concat(parts).toString();
    tokens.add(request.headers.authorization);
    const one = /^PATCH \/repos\/a\/b\/issues\/comments\/(\d+)$/.exec(`${request.method} ${request.url}`);
    if (status !== undefined) response.statusCode = status;
    else if (one) comments.find(({ id }) => id === Number(one[1]))!.body = JSON.parse(text).body;
    else if (!request.url!.startsWith('/repos/a/b/issues/7/comments')) response.statusCode = 404;
    else if (request.method === 'POST') comments.push({ id: comments.length + 1, body: JSON.parse(text).body });
    response.end(JSON.stringify(comments));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    comments,
    tokens,
    url,
    [Symbol.asyncDispose]: () => new Promise<void>((done) => server.close(() => done())),
  };
}

/** A clone with a skill on the base branch, in which the action is run. */
function clone(skill = 'skills/pdf') {
  const folder = tempFolder({ 'temp/x': '' });
  const workspace = join(folder.path, 'work');
  mkdirSync(join(workspace, skill), { recursive: true });
  for (const [name, text] of Object.entries(MARKS_FILES)) writeFileSync(join(workspace, name), text);
  const write = (text: string) => writeFileSync(join(workspace, skill, 'SKILL.md'), text);
  write(skillThat(4));
  const env = { PATH: process.env.PATH!, HOME: folder.path, GIT_CONFIG_NOSYSTEM: '1' };
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.c', ...args], { cwd: workspace, env });
  git('init', '--quiet');
  git('add', '.');
  git('commit', '--quiet', '-m', 'one');
  git('update-ref', 'refs/remotes/origin/main', 'HEAD');
  const bin = fakePrograms(folder.path, COMMAND);
  const run = (url: string, inputs: Record<string, string> = {}, event: object = { pull_request: { number: 7 } }) =>
    runAction({
      workspace,
      temp: join(folder.path, 'temp'),
      inputs: { skill, ...inputs },
      github: { base_ref: 'main', repository: 'a/b', token: 'job-token', event },
      env: { ...env, PATH: `${bin}:${env.PATH}`, FAKE_GITHUB: url, NPX_LOG: join(folder.path, 'npx.log') },
    });
  const read = (name: string) => readFileSync(join(folder.path, name), 'utf8');
  return { ...folder, workspace, write, run, read };
}

describe('the action', () => {
  it('puts no input into a script, where it would be run', () => {
    for (const { run, shell, uses } of readAction().runs.steps) {
      if (uses !== undefined) continue; // GitHub's own
      expect(run).not.toContain('${{');
      expect(shell).toBe('bash');
    }
  });

  it('fails when worse is proven, and keeps one comment with verdict and diff up to date', async () => {
    await using github = await startGithub();
    using project = clone();
    project.write(skillThat(24));
    const worse = await project.run(github.url, { version: '1.2.3' });
    expect([worse.code, worse.log]).toMatchObject([
      1,
      expect.stringContaining('::error title=skillopt%3A skills/pdf::Worse: 90.0 → 40.0'),
    ]);
    expect(worse.outputs).toMatchObject({ verdict: 'worse', passed: 'false', score: '0.4', 'exit-code': '1' });
    expect(readFileSync(worse.outputs.junit!, 'utf8').match(/<testcase /g)).toHaveLength(40);
    expect(worse.used).toMatchObject([
      { uses: 'actions/upload-artifact@v4', with: { name: 'skillopt-report', path: dirname(worse.outputs.page!) } },
    ]);
    expect(readFileSync(worse.outputs.page!, 'utf8')).toContain('git:origin/main');
    expect(project.read('npx.log')).toMatch(/^--yes --package=skillopt@1\.2\.3 -- skillopt eval --skill=skills\/pdf /);
    expect(github.comments).toHaveLength(2);
    expect(github.comments[1]!.body).toMatch(
      /^<!-- skillopt [0-9a-f]{16} -->\n### `skills\/pdf`\n\n\*\*✗ Worse:\*\* 90.0 → 40.0 % /,
    );
    expect(github.comments[1]!.body).toContain('```diff\n-- fails: 4\n+- fails: 24\n```');
    expect(github.comments[1]!.body).toContain('against `git:origin/main`');
    expect(project.read('temp/summary.md')).toContain('**✗ Worse:**');
    project.write(skillThat(5));
    const fine = await project.run(github.url);
    expect([fine.code, fine.outputs.verdict]).toEqual([0, 'not-proven']);
    expect(github.comments.map(({ body }) => body.split('\n')[3] ?? body)).toEqual([
      'Nice.',
      expect.stringMatching(/^\*\*✓ Not proven worse:\*\* 90.0 → 87.5 % /),
    ]);
    expect([...github.tokens]).toEqual(['Bearer job-token']);
  });

  it('passes bar and baseline on, and comments only where that is wanted and there is a pull request', async () => {
    await using github = await startGithub();
    using project = clone();
    const bar = await project.run(github.url, { 'min-score': '0.95', baseline: 'none', comment: 'false' });
    expect([bar.code, bar.outputs]).toMatchObject([1, { verdict: 'below-bar', score: '0.9' }]);
    expect(project.read('npx.log')).not.toContain('--baseline');
    expect((await project.run(github.url, {}, {})).code).toBe(0);
    expect(github.comments).toHaveLength(1);
  });

  it('fails as not measured where nothing could be, and says so in the comment', async () => {
    await using github = await startGithub();
    using project = clone();
    const { code, outputs } = await project.run(github.url, { config: 'nowhere.yaml' });
    expect([code, outputs]).toMatchObject([
      2,
      { verdict: 'not-measured', passed: 'false', score: '', 'exit-code': '2' },
    ]);
    expect(github.comments[1]!.body).toContain('Not measured');
  });

  it('does not fail because it may not comment', async () => {
    await using github = await startGithub(403);
    using project = clone();
    const { code, log } = await project.run(github.url);
    expect([code, log]).toMatchObject([
      0,
      expect.stringContaining('::warning::skillopt: the comments of this pull request cannot be read'),
    ]);
  });

  it('runs nothing that a name says', async () => {
    await using github = await startGithub();
    const skill = 'a"; touch pwned; $(touch pwned) `touch pwned` \' b';
    using project = clone(skill);
    const { code } = await project.run(github.url, {
      baseline: 'git:$(touch pwned)',
      'min-score': '0"; touch pwned; "',
    });
    expect(code).toBe(2);
    expect((await project.run(github.url)).outputs.verdict).toBe('no-change');
    expect(github.comments).toHaveLength(2);
    for (const place of [project.workspace, project.path]) expect(existsSync(join(place, 'pwned'))).toBe(false);
  });
});
