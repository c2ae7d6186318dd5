import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openTemplate, openWorkspace, type Sandbox, type TemplateOptions } from 'skillopt/workspaces';
import { describe, expect, it } from 'vitest';
import { programArgs } from '../../support/compiled.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { kinds, probe, sh } from './kinds.ts';

type Part = Partial<TemplateOptions> & { readonly sandbox: Sandbox; readonly root: string };

/** Runs a script in a fresh workspace, and tells what became of it. */
async function workIn(script: string, { sandbox, root, ...template }: Part) {
  const made = await openTemplate({ sandbox, root, ...template });
  await using workspace = await openWorkspace({ template: made, sandbox, root });
  const result = await sandbox.run({ command: sh(script), workspace: workspace.view, timeoutMs: 60_000 });
  return { ...result, view: workspace.view, ...(await workspace.diff()), template: made };
}

const shortly = (changes: readonly { path: string; change: string }[]) =>
  changes.map(({ path, change }) => `${change} ${path}`);

/** A sandbox that could show views, but does not: workspaces are copies, and otherwise the same. */
const withCopies = (sandbox: Sandbox): Sandbox => ({ ...sandbox, takesOverlays: async () => false });
const ways: typeof kinds = [
  ...kinds,
  ...kinds.slice(1).map(([name, open]): (typeof kinds)[0] => [`${name} with copies`, (root) => withCopies(open(root))]),
];

describe.each(ways)('a workspace in %s', (name, open) => {
  it('is a view where there can be one, and begins as its template each time', async () => {
    using root = tempFolder();
    const sandbox = open(root.path);
    const files = { 'a.txt': 'a\n', 'b/c.txt': 'c\n' };
    const first = await workIn('echo x > a.txt; rm -r b', { sandbox, root: root.path, files });
    const second = await workIn('cat a.txt b/c.txt', { sandbox, root: root.path, files });
    expect(second.stdout).toBe('a\nc');
    expect(first.template).toEqual(second.template);
    expect(first.view.overlay !== undefined).toBe(name === 'bubblewrap' && probe.workspaces === 'overlay');
  });

  it('tells what was added, changed and removed', async () => {
    using root = tempFolder();
    const files = {
      'changed.txt': 'one\ntwo\nthree\n',
      'gone.txt': 'gone\n',
      'kept.txt': 'kept\n',
      'run.sh': 'x\n',
      'touched.txt': 't\n',
    };
    const script =
      'sed -i s/two/2/ changed.txt; rm gone.txt; mkdir -p new/dir; echo n > new/dir/n.txt; chmod +x run.sh; touch -d 2001-01-01 touched.txt';
    const { changes, leftOut } = await workIn(script, { sandbox: open(root.path), root: root.path, files });
    expect(changes).toEqual([
      { path: 'changed.txt', change: 'changed', patch: expect.stringContaining('-two\n+2\n') },
      { path: 'gone.txt', change: 'deleted', patch: expect.stringContaining('-gone\n') },
      { path: 'new/dir/n.txt', change: 'added', patch: expect.stringContaining('+n\n') },
      { path: 'run.sh', change: 'changed', note: 'can be run now' },
    ]);
    expect(leftOut).toEqual([]);
  });

  it('sees a change under the old time and size', async () => {
    using root = tempFolder();
    const script = 'touch -r a.txt /tmp/.t-$$; printf "B\\n" > a.txt; touch -r /tmp/.t-$$ a.txt; rm /tmp/.t-$$';
    const { changes } = await workIn(script, { sandbox: open(root.path), root: root.path, files: { 'a.txt': 'a\n' } });
    expect(shortly(changes)).toEqual(['changed a.txt']);
  });

  it('sees what is gone from a folder that was removed and made again', async () => {
    using root = tempFolder();
    const files = { 'd/a': 'a\n', 'd/e/b': 'b\n', 'd/e/c': 'c\n', 'd/f/g': 'g\n', 'kept/h': 'h\n' };
    const script = 'rm -r d; mkdir -p d/e; echo B > d/e/b; mv kept moved';
    const { changes } = await workIn(script, { sandbox: open(root.path), root: root.path, files });
    expect(shortly(changes)).toEqual([
      ...['deleted d/a', 'changed d/e/b', 'deleted d/e/c', 'deleted d/f/g', 'deleted kept/h', 'added moved/h'],
    ]);
  });

  it('sees folders that become files, and files that become folders', async () => {
    using root = tempFolder();
    const files = { 'd/a': 'a\n', 'd/b': 'b\n', f: 'f\n' };
    const { changes } = await workIn('rm -r d; echo d > d; rm f; mkdir f; echo g > f/g', {
      sandbox: open(root.path),
      root: root.path,
      files,
    });
    expect(shortly(changes)).toEqual(['added d', 'deleted d/a', 'deleted d/b', 'deleted f', 'added f/g']);
  });

  it('shows bytes by their hash, links by their target, and opens neither pipes nor devices', async () => {
    using root = tempFolder();
    using secret = tempFolder({ 'secret.txt': 'SECRET' });
    const target = join(secret.path, 'secret.txt');
    const script = `printf 'a\\0b' > bytes; head -c 300000 /dev/zero | tr '\\0' x > long; ln -s ${target} link; ln -sfn ${secret.path} was; mkfifo pipe; mkdir node_modules __pycache__; echo x > node_modules/x`;
    const { changes, leftOut } = await workIn(script, {
      sandbox: open(root.path),
      root: root.path,
      files: { was: 'was\n' },
    });
    expect(changes).toEqual([
      { path: 'bytes', change: 'added', note: expect.stringMatching(/^binary, 3 bytes, sha256 [0-9a-f]{64}$/) },
      { path: 'link', change: 'added', note: 'a link', patch: expect.stringContaining(`+${target}\n`) },
      {
        path: 'long',
        change: 'added',
        note: expect.stringMatching(/^too long to show, 300000 bytes, sha256 [0-9a-f]{64}$/),
      },
      { path: 'pipe', change: 'added', note: 'a pipe' },
      { path: 'was', change: 'changed', note: 'a link', patch: expect.stringContaining(`+${secret.path}\n`) },
    ]);
    expect(JSON.stringify(changes)).not.toContain('SECRET');
    expect(leftOut).toEqual(expect.arrayContaining(['node_modules/: not looked into']));
  });

  it('says what would be too much to show', async () => {
    using root = tempFolder();
    const script =
      'i=0; while [ $i -lt 12 ]; do i=$((i+1)); head -c 200000 /dev/zero | tr "\\0" x | fold -w 100 > f$i; done; mkdir many; cd many; seq 2100 | xargs touch';
    const { changes, leftOut } = await workIn(script, { sandbox: open(root.path), root: root.path, files: {} });
    const shown = changes.reduce((sum, { patch = '' }) => sum + patch.length, 0);
    expect(shown).toBeLessThanOrEqual(2 * 1024 * 1024);
    expect(changes.filter(({ note }) => note?.includes('the whole would be too long')).length).toBeGreaterThan(0);
    expect(leftOut).toEqual(['112 more changes']);
  });

  it('can be worked in again by another command, which finds what the first one did', async () => {
    using root = tempFolder();
    const sandbox = open(root.path);
    const template = await openTemplate({
      sandbox,
      root: root.path,
      files: { 'a.txt': 'a\n', 'tests/old.sh': 'old\n' },
    });
    await using workspace = await openWorkspace({ template, sandbox, root: root.path });
    using outside = tempFolder({ 'victim.txt': 'untouched', 'folder/x': '' });
    const run = (script: string, files = {}) =>
      sandbox.run({ command: sh(script), workspace: workspace.view, timeoutMs: 60_000, files });
    await run(
      `echo answer > answer.txt; rm -r tests; ln -s ${outside.path}/victim.txt check.sh; ln -s ${outside.path}/folder more`,
    );
    const files = { 'check.sh': 'cat answer.txt', 'tests/new.sh': 'new', 'more/y': 'y' };
    const { stdout } = await run('sh check.sh; ls tests; cat more/y', files);
    expect(stdout).toBe('answer\nnew.sh\ny');
    expect(readFileSync(join(outside.path, 'victim.txt'), 'utf8')).toBe('untouched');
    expect(readdirSync(join(outside.path, 'folder'))).toEqual(['x']);
  });

  it('is gone soon after', async () => {
    using root = tempFolder();
    await workIn('echo x > x; mkdir -p closed/in; chmod 000 closed', {
      sandbox: open(root.path),
      root: root.path,
      files: {},
    });
    await expect.poll(() => readdirSync(root.path)).toEqual(['templates']);
  });
});

describe.each(kinds)('a template in %s', (_, open) => {
  const git = (cwd: string, ...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd, encoding: 'utf8' });

  const repository = () => {
    const folder = tempFolder({ 'a.txt': 'answer: 42\n', 'sub/b.txt': 'b\n' });
    git(folder.path, 'init', '--quiet');
    git(folder.path, 'add', '.');
    git(folder.path, 'commit', '--quiet', '--message', 'The answer is 42');
    writeFileSync(join(folder.path, 'a.txt'), 'question\n');
    return folder;
  };

  it('has one commit in place of a history that could tell the answer, the same wherever it is made', async () => {
    using source = repository();
    mkdirSync(join(source.path, 'sub/.git'));
    writeFileSync(join(source.path, 'sub/.git/config'), 'answer');
    const seen: string[] = [];
    for (const _ of [1, 2]) {
      using root = tempFolder();
      const { stdout } = await workIn(
        'git log --format=%H%s; git status --short; ls -A sub; grep -r answer . || echo none',
        {
          sandbox: open(root.path),
          root: root.path,
          source: source.path,
        },
      );
      seen.push(stdout);
    }
    expect(seen[0]).toMatch(/^[0-9a-f]{40}Begin\nb\.txt\nnone$/);
    expect(seen[1]).toBe(seen[0]);
  });

  it('keeps the history when that is said', async () => {
    using source = repository();
    using root = tempFolder();
    const part = { sandbox: open(root.path), root: root.path, source: source.path, keepHistory: true };
    expect((await workIn('git -c safe.directory=* log --format=%s', part)).stdout).toBe('The answer is 42');
  });

  it('is no repository when its source is none, unless one is asked for', async () => {
    using source = tempFolder({ a: 'a' });
    using root = tempFolder();
    const part = { sandbox: open(root.path), root: root.path, source: source.path };
    expect((await workIn('ls -A', part)).stdout).toBe('a');
    expect((await workIn('git log --format=%s', { ...part, git: true })).stdout).toBe('Begin');
  });

  it('is made once for the same content by all who ask at once, and again when the content is another', async () => {
    using source = tempFolder({ 'a.txt': 'a' });
    using root = tempFolder();
    const setup = { command: sh('echo made >> made.txt'), timeoutMs: 60_000 };
    const part = { sandbox: open(root.path), root: root.path, source: source.path, setup };
    const made = await Promise.all([1, 2, 3, 4].map(() => openTemplate(part)));
    expect(new Set(made.map(({ key }) => key)).size).toBe(1);
    expect(readFileSync(join(made[0]!.path, 'made.txt'), 'utf8')).toBe('made\n');
    writeFileSync(join(source.path, 'a.txt'), 'b');
    const keys = [
      (await openTemplate(part)).key,
      (await openTemplate({ ...part, files: { x: 'x' } })).key,
      (await openTemplate({ ...part, binaries: { x: Buffer.from('x') } })).key,
    ];
    expect(new Set([made[0]!.key, ...keys]).size).toBe(4);
  });

  it('copies links as links, and lays files through none', async () => {
    using outside = tempFolder({ 'secret.txt': 'SECRET' });
    using source = tempFolder({ 'a.txt': 'a' });
    symlinkSync(outside.path, join(source.path, 'out'));
    symlinkSync('/', join(source.path, 'everything'));
    symlinkSync('.', join(source.path, 'itself'));
    using root = tempFolder();
    const part = { sandbox: open(root.path), root: root.path, source: source.path };
    const { path } = await openTemplate({ ...part, files: { 'out/laid.txt': 'laid' } });
    expect(readdirSync(outside.path)).toEqual(['secret.txt']);
    expect(readdirSync(join(path, 'out'))).toEqual(['laid.txt']);
  });

  it('is made again when it is no longer as it was made', async () => {
    using root = tempFolder();
    const part = { sandbox: open(root.path), root: root.path, files: { 'a.txt': 'a', 'b.txt': 'b' } };
    const { path } = await openTemplate(part);
    writeFileSync(join(path, 'a.txt'), 'spoiled');
    const program = programArgs('test/unit/workspaces/template.child.ts');
    const asked = JSON.stringify({ ...part, sandbox: part.sandbox.id });
    execFileSync(process.execPath, [...program, asked]); // another process
    expect(readFileSync(join(path, 'a.txt'), 'utf8')).toBe('a');
  });

  it('is not there when its setup fails, and says why', async () => {
    using root = tempFolder();
    const part = { sandbox: open(root.path), root: root.path, files: { a: 'a' } };
    const failing = (script: string, timeoutMs = 60_000) =>
      openTemplate({ ...part, setup: { command: sh(script), timeoutMs } });
    await expect(failing('echo broken >&2; exit 3')).rejects.toMatchObject({
      code: 'ENV_FAILED',
      message: expect.stringMatching(/ended with 3: broken$/),
    });
    await expect(failing('sleep 600', 200)).rejects.toThrow('took more than 200 ms');
    expect(existsSync(join(root.path, 'templates'))).toBe(false);
  });

  it('refuses names that lead elsewhere, and a history that lies elsewhere', async () => {
    using root = tempFolder();
    const sandbox = open(root.path);
    await expect(openTemplate({ sandbox, root: root.path, files: { '../x': 'x' } })).rejects.toThrow(
      'cannot be the name',
    );
    using source = tempFolder({ '.git': 'gitdir: /elsewhere' });
    const kept = openTemplate({ sandbox, root: root.path, source: source.path, keepHistory: true });
    await expect(kept).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  });
});
