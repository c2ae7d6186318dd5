import { setTimeout as delay } from 'node:timers/promises';
import { type ChatModel, defineEnv, ModelCallError, type RunObserver, runDirectory, SkillOptTrainer } from 'skillopt';
import { scripted } from 'skillopt/testing';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { runCli } from '../../../../src/cli/index.ts';
import { noticing, notifyOf, type RunNotice } from '../../../../src/core/run/index.ts';
import { readProgress } from '../../../../src/stores/index.ts';
import { openProgressFile } from '../../../../src/stores/run/progress-file.ts';
import { captureIo } from '../../../support/capture-io.ts';
import { tempFolder } from '../../../support/temp-folder.ts';

const tasks = (split: string) => ['1', '2'].map((name) => ({ id: `${split}-${name}` }));
const env = defineEnv({
  name: 'sums',
  schema: z.object({ id: z.string() }),
  items: { train: tasks('train'), val: tasks('val'), test: tasks('test') },
  initialSkill: '# Sums\n',
  async rolloutOne({ target }) {
    const { text } = await target.complete({ messages: [{ role: 'user', content: 'Add.' }] });
    return { hard: text === 'right' ? 1 : 0, soft: 0 };
  },
});

/** A model that is asked to slow down, then is down once, and answers after somebody has seen that. */
function troubledTarget(isSeen: () => boolean): ChatModel {
  const errors = [
    new ModelCallError('slow down, please', { status: 429, retryAfterMs: 5 }),
    new ModelCallError('overloaded at host-1', { status: 503, retryAfterMs: 5 }),
  ];
  return {
    id: 'target',
    account: 'fake host-1 key',
    async complete() {
      const error = errors.shift();
      if (error) throw error;
      while (!isSeen()) await delay(10);
      return { text: 'right', finishReason: 'stop', usage: { input: 1, cached: 0, output: 1, reasoning: 0 } };
    },
  };
}

/** Trains a run with such a model while `watch` looks at it. */
async function watchTrouble(flags: readonly string[], seen: RegExp) {
  using folder = tempFolder();
  const io = captureIo({ cwd: folder.path, env: { HOME: folder.path } });
  const told: RunNotice[] = [];
  const observer: RunObserver = noticing((notice) => told.push(notice));
  const optimizer = scripted('optimizer', () => '{"patch": {"reasoning": "", "edits": []}}');
  const target = troubledTarget(() => seen.test(io.out() + io.err()));
  const store = runDirectory(`${folder.path}/runs/run`);
  const config = { numEpochs: 1, batchSize: 2, finalPasses: 0, workers: 1 } as const;
  const training = new SkillOptTrainer({ config, env, target, optimizer, observers: [observer], store }).train();
  while ((await store.read().catch(() => [])).length === 0) await delay(10);
  const code = await runCli(['watch', 'run', ...flags], io);
  await training;
  return { code, told, out: io.out(), err: io.err() };
}

describe('watch', () => {
  it('shows the retries and pauses of a run in another process, as the run itself does', async () => {
    const { code, err } = await watchTrouble([], /retry 1/);
    expect(code).toBe(0);
    expect(err).toMatch(/^ {2}retry 1 in .*: overloaded at host-1$/m);
    expect(err).toMatch(/^ {2}fake host-1 wants a pause: /m);
  });

  it('tells machines of them, a line each', async () => {
    const { told, out } = await watchTrouble(['--json'], /"retry"/);
    const lines = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    // Later ones may come when a stage ends, and a stage ends the file.
    const first = told.slice(0, told.findIndex(({ type }) => type === 'retry') + 1);
    expect(first).toContainEqual({ type: 'retry', message: 'overloaded at host-1', attempt: 1, delayMs: 5 });
    expect(first).toContainEqual(expect.objectContaining({ type: 'rate-limit', account: 'fake host-1' }));
    for (const notice of first) expect(lines).toContainEqual(notice);
  });
});

describe('notices in progress.jsonl', () => {
  const place = { phase: 'rollout', step: 2, done: 1, total: 9 } as const;
  const spent = { calls: 3, costUsd: 0.5, ended: { attempts: 1, costUsd: 0.2 } };

  async function linesOf(note: (file: ReturnType<typeof openProgressFile>) => void) {
    using folder = tempFolder();
    const path = `${folder.path}/progress.jsonl`;
    const file = openProgressFile(path);
    note(file);
    let { news } = await readProgress(path, { part: -1, count: 0 });
    while (news.length === 0) ({ news } = await delay(10).then(() => readProgress(path, { part: -1, count: 0 })));
    await file.close();
    return news;
  }

  it('have the progress before them, so that a reader who knows no notices sees nothing new', async () => {
    const lines = await linesOf((file) => {
      file.note({ ...place, result: { id: 'a', hard: 1, soft: 1 } });
      file.noteNotice({ type: 'spend', spent });
    });
    expect(lines[1]).toEqual({ ...place, notice: { type: 'spend', spent } });
  });

  it('are a few a second of each type, whatever happens', async () => {
    const lines = await linesOf((file) => {
      for (let attempt = 1; attempt <= 1_000; attempt++) {
        file.noteNotice({ type: 'retry', message: 'down', attempt, delayMs: 1 });
        file.noteNotice({ type: 'spend', spent });
      }
    });
    expect(lines.length).toBeGreaterThanOrEqual(10);
    expect(lines.length).toBeLessThanOrEqual(20); // a second may have ended in between
  });

  it('of a later version are left out, and lines that are no progress too', async () => {
    using folder = tempFolder({ 'progress.jsonl': `{"part":1}\n${JSON.stringify(place)}\n{"later":1}\n7\n` });
    const { news, place: end } = await readProgress(`${folder.path}/progress.jsonl`, { part: -1, count: 0 });
    expect([news, end]).toEqual([[place], { part: 1, count: 3 }]);
    expect(() => notifyOf({ type: 'later' } as never, {})).not.toThrow();
  });

  it('come out as they went in, with long messages cut', () => {
    const told: RunNotice[] = [];
    const observer = noticing((notice) => told.push(notice));
    const change = { type: 'pause', reason: 'asked', pauseMs: 7 } as const;
    observer.onRetry({ error: new Error('x'.repeat(9_000)), attempt: 2, delayMs: 3 });
    observer.onRateLimit({ account: 'a b', ...change });
    observer.onSpend(spent);
    for (const notice of told.slice()) notifyOf(notice, observer);
    expect(told.slice(3)).toEqual(told.slice(0, 3));
    expect(told[0]).toMatchObject({ message: expect.stringMatching(/^x{400,500}/) });
  });
});
