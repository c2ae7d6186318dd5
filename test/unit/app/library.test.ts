import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import {
  applyRun,
  compareDocuments,
  compareRuns,
  examineProject,
  listRuns,
  loadRun,
  openAppliedFolder,
  openEval,
  openProject,
  openRun,
  undoApply,
} from 'skillopt/app';
import { createWorld } from 'skillopt/sim';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../support/temp-folder.ts';

/** A project with simulated models, and the variables of a caller. */
function worldProject() {
  const { items, initialSkill } = createWorld({ seed: 11, train: 24, val: 24, test: 24 });
  const rows = Object.entries(items).flatMap(([split, list]) => list.map((item) => ({ ...item, split })));
  const project = {
    ...{ name: 'first', tasks: 'tasks.jsonl', skill: 'SKILL.md', numEpochs: 1, batchSize: 12 },
    ...{ target: 'simulated:target', optimizer: 'simulated:optimizer' },
  };
  const folder = tempFolder({
    'skillopt.config.json': JSON.stringify(project),
    'tasks.jsonl': rows.map((row) => JSON.stringify(row)).join('\n'),
    'SKILL.md': initialSkill,
  });
  const warnings: string[] = [];
  const notices = { note: () => {}, warn: (message: string) => void warnings.push(message) };
  return { ...folder, initialSkill, warnings, caller: { env: { HOME: folder.path }, notices } };
}

describe('skillopt/app', () => {
  it('trains a project, applies it, takes it back and compares, without a terminal', async () => {
    using world = worldProject();
    const { path: cwd, caller } = world;
    const loaded = await openProject({ flags: {}, cwd });
    const { signal } = new AbortController();
    const events: string[] = [];
    await using run = await openRun(loaded, caller);
    expect(run.isNew).toBe(true);
    expect((await run.estimate()).totals.calls.low).toBeGreaterThan(0);
    const trained = await run.train({ observers: [{ onEvent: ({ type }) => void events.push(type) }], signal, cwd });
    expect(trained.run.state.isDone).toBe(true);
    expect([events[0], events.at(-1)]).toEqual(['run-start', 'run-end']);
    expect((await listRuns(join(cwd, 'runs'))).map(({ name }) => name)).toEqual(['first']);

    const document = () => readFileSync(join(cwd, 'SKILL.md'), 'utf8');
    const folder = await openAppliedFolder(caller);
    expect(await applyRun(trained.run, folder, { agrees: async () => false })).toMatchObject({ isApplied: false });
    expect(document()).toBe(world.initialSkill);
    expect(await applyRun(trained.run, folder)).toMatchObject({ isApplied: true });
    expect(document()).toBe(trained.run.state.best.skill);
    expect(await undoApply(trained.run, { journalFolder: folder })).toMatchObject({ how: 'restored' });
    expect(document()).toBe(world.initialSkill);

    const to = relative(process.cwd(), join(cwd, 'elsewhere'));
    const { plan } = await applyRun(trained.run, folder, { to });
    expect(plan!.document.path, 'a relative path is from the current folder').toBe(join(cwd, 'elsewhere/SKILL.md'));
    expect(await undoApply(trained.run, { journalFolder: folder })).toMatchObject({ how: 'removed' });

    expect((await loadRun(relative(process.cwd(), run.path))).path).toBe(run.path);
    const nowhere = loadRun(join(cwd, 'runs/nowhere'));
    await expect(nowhere).rejects.toMatchObject({
      code: 'RUN_NOT_FOUND',
      message: expect.stringContaining('expected a run at'),
    });

    const best = { name: 'best', path: join(run.path, 'best_skill.md') };
    const scoring = { split: 'test', caller, signal, observers: [], isCached: true };
    const compared = await compareDocuments(loaded, [{ name: 'old', path: join(cwd, 'SKILL.md') }, best], scoring);
    expect(compared.against).toMatchObject({ kind: 'better', comparison: { tasks: 24 } });
    const itself = { name: 'first', path: run.path };
    expect((await compareRuns(itself, itself, 'test')).against.kind).toBe('no-change');
    await using scored = await openEval(loaded, { skill: best.path, split: 'test', cwd }, caller);
    const { check } = await scored.score({ observers: [], signal, isCached: true, minScore: 0.5 });
    expect([check.isPassed, check.score]).toEqual([true, compared.against.comparison?.after]);
    expect(world.warnings).toEqual([]);
  });

  it('examines a project, each finding by itself', async () => {
    using world = worldProject();
    const names: string[] = [];
    const env = { HOME: world.path, PATH: '' };
    for await (const { name, isOk } of examineProject({ cwd: world.path, env })) names.push(`${name} ${isOk}`);
    expect(names).toEqual([
      'node true',
      'agents true',
      'project true',
      'tasks true',
      'runs true',
      'target true',
      'optimizer true',
    ]);
  });
});
