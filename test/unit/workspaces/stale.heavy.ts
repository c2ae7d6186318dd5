import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { triggerEnv, workspaceEnv } from 'skillopt/runners';
import { openTemplate, openWorkspace, removeStale, sandboxes } from 'skillopt/workspaces';
import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../../src/core/contracts/index.ts';
import { programArgs } from '../../support/compiled.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { kinds, lacksBubblewrap, newMark, processesWith } from './kinds.ts';

const startRollout = async (root: string, kind: string, mark: string) => {
  const args = [...programArgs('test/unit/workspaces/rollout.child.ts'), root, kind];
  const script = `setsid sleep ${mark} & echo begun; sleep ${mark}`;
  const limits = JSON.stringify({ processes: 50, memoryMb: 500 });
  const child = spawn(process.execPath, [...args, script, limits], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  await expect.poll(() => processesWith(mark).length).toBe(2);
  return child;
};

const foldersIn = (root: string) => readdirSync(root).filter((name) => name !== 'templates');

describe.each(kinds)('what a killed process left behind in %s', (kind) => {
  it('is removed at the next start, by several at once', async () => {
    using root = tempFolder();
    const mark = newMark();
    const child = await startRollout(root.path, kind, mark);
    expect(foldersIn(root.path).length).toBeGreaterThan(0);
    child.kill('SIGKILL');
    await once(child, 'exit');
    await Promise.all([removeStale(root.path), removeStale(root.path), removeStale(root.path)]);
    expect([processesWith(mark), foldersIn(root.path)]).toEqual([[], []]);
    expect(execFileSync('mount', { encoding: 'utf8' })).not.toContain(root.path);
  });

  it('is told from what a living one works with', async () => {
    using root = tempFolder();
    const mark = newMark();
    const child = await startRollout(root.path, kind, mark);
    const [folders, processes] = [foldersIn(root.path), processesWith(mark)];
    await removeStale(root.path);
    expect([foldersIn(root.path), processesWith(mark)]).toEqual([folders, processes]);
    child.kill('SIGKILL');
    await once(child, 'exit');
    await removeStale(root.path);
    expect(foldersIn(root.path)).toEqual([]);
  });
});

it.each([
  ['tasks in workspaces', () => workspaceEnv({ name: 'shop', items: {}, folder: '.', sandbox: sandboxes.none() })],
  ['queries', () => triggerEnv({ name: 'shop', items: {}, sandbox: sandboxes.none() })],
])('is removed when a run with %s begins', async (_what, openEnv) => {
  using root = tempFolder();
  const mark = newMark();
  const child = await startRollout(root.path, 'none', mark);
  child.kill('SIGKILL');
  await once(child, 'exit');
  await openEnv().setup?.(parseConfig({}));
  expect(processesWith(mark)).toEqual([]);
});

it('leaves alone what is not ours, what cannot be told, and its own', async () => {
  using root = tempFolder({ 'notes.txt': 'mine', 'ffffffff-1-1-00000000/x': 'of another machine' });
  const sandbox = sandboxes.none({ root: root.path });
  const template = await openTemplate({ sandbox, root: root.path, files: { a: 'a' } });
  await using workspace = await openWorkspace({ template, sandbox, root: root.path });
  await removeStale(root.path);
  expect(foldersIn(root.path)).toEqual(expect.arrayContaining(['notes.txt', 'ffffffff-1-1-00000000']));
  expect(readdirSync(workspace.view.path)).toEqual(['a']);
});

it.skipIf(lacksBubblewrap || process.getuid?.() !== 0)(
  'unmounts what is mounted in a stale folder before it removes it (as root)',
  async () => {
    using root = tempFolder();
    using kept = tempFolder({ 'kept.txt': 'kept' });
    const mark = newMark();
    const child = await startRollout(root.path, 'bubblewrap', mark);
    const point = join(root.path, foldersIn(root.path)[0]!, 'mounted');
    mkdirSync(point);
    execFileSync('mount', ['--bind', kept.path, point]);
    child.kill('SIGKILL');
    await once(child, 'exit');
    await removeStale(root.path);
    expect([foldersIn(root.path), readdirSync(kept.path)]).toEqual([[], ['kept.txt']]);
  },
);
