import { describe, expect, it } from 'vitest';
import { eventLine, openLine } from '../../src/cli/progress/event-line.ts';
import { openLiveBlock } from '../../src/cli/progress/live-block.ts';
import { openProgress } from '../../src/cli/progress/progress.ts';
import { progressBlock } from '../../src/cli/progress/progress-block.ts';
import { finishedRollouts, plannedRollouts } from '../../src/cli/progress/rollout-count.ts';
import { noColors } from '../../src/cli/terminal/colors.ts';
import { openTerminal } from '../../src/cli/terminal/terminal.ts';
import { textWidth } from '../../src/cli/terminal/text-width.ts';
import type { Progress } from '../../src/core/event.ts';
import { emptyRun, type RunState } from '../../src/core/run-state.ts';
import { reduce } from '../../src/core/state.ts';
import { captureIo } from './cli-capture-io.ts';
import { sampleRun } from './cli-sample-run.ts';

const stateAfter = (events: number): RunState => sampleRun.slice(0, events).reduce(reduce, emptyRun);
const inSecondStep = stateAfter(12); // step 2 has rolled out its batch
const evaluating: Progress = { phase: 'evaluate', step: 2, done: 3, total: 8 };

describe('counting rollouts', () => {
  it('plans the baseline, every batch and evaluation, and two tests', () => {
    expect(plannedRollouts(inSecondStep)).toBe(8 + 12 + 3 * 8 + 2 * 8);
    expect(plannedRollouts(emptyRun)).toBe(0);
  });

  it('never goes back, and ends at the plan', () => {
    const counts = sampleRun.map((_, index) => finishedRollouts(stateAfter(index + 1)));
    expect(counts).toEqual(counts.toSorted((a, b) => a - b));
    expect(finishedRollouts(inSecondStep, evaluating)).toBe(8 + (4 + 8) + 4 + 3);
    expect(counts.at(-1)).toBe(plannedRollouts(stateAfter(sampleRun.length)));
  });

  it('counts a last batch that is smaller as what it is', () => {
    const state = { ...stateAfter(10), items: { train: 10, val: 8, test: 8 }, stepsDone: 3, baseline: undefined };
    expect(finishedRollouts(state)).toBe(10 + 3 * 8);
  });
});

describe('the live block', () => {
  const view = { state: inSecondStep, progress: evaluating, elapsedMs: 4000, finishedBefore: 0 };
  const block = (width: number) => progressBlock(view, { width, colors: noColors });

  it('shows where the run is, how good it is and what it costs', () => {
    expect(block(80).join('\n')).toMatchInlineSnapshot(`
      "━━━━━━━━━━━━━━━━━━────────────────────── 45 %  27/60 rollouts
      step 2/3 · epoch 1/1 · evaluate 3/8
      validation 75.0 % · best 75.0 % · baseline 25.0 % · 1 edit kept
      4.0 s elapsed · about 4.9 s left · 96 calls, 24 from cache"
    `);
  });

  it('leaves out what does not fit', () => {
    expect(block(40).join('\n')).toMatchInlineSnapshot(`
      "━━━━━━━━────────── 45 %  27/60 rollouts
      step 2/3 · epoch 1/1 · evaluate 3/8
      validation 75.0 % · best 75.0 %
      4.0 s elapsed · about 4.9 s left"
    `);
  });

  it('never wraps', () => {
    for (let width = 1; width < 100; width++) {
      for (const line of block(width)) expect(textWidth(line)).toBeLessThanOrEqual(width);
    }
  });

  it('takes what was done before into no account of speed', () => {
    const resumed = progressBlock({ ...view, finishedBefore: 20 }, { width: 80, colors: noColors });
    expect(resumed.at(-1)).toContain('about 19 s left');
  });

  it('has a bar for a measurement without a run, and says so before anything began', () => {
    const scoring: Progress = { phase: 'test', step: 0, done: 5, total: 10 };
    const options = { width: 60, colors: noColors };
    expect(progressBlock({ ...view, state: emptyRun, progress: scoring }, options)[0]).toContain('50 %  5/10 rollouts');
    expect(progressBlock({ ...view, state: emptyRun, progress: undefined }, options)).toEqual(['starting']);
  });
});

describe('the lines that stay', () => {
  const lines = (width: number) =>
    sampleRun.flatMap((event, index) => eventLine(event, stateAfter(index + 1), { width, colors: noColors }) ?? []);

  it('are one for the start, the baseline, each step and each test', () => {
    expect(lines(80).join('\n')).toMatchInlineSnapshot(`
      "training on sample: 3 steps, tasks 12 train, 8 val, 8 test
        baseline  25.0 % on 8 validation tasks
      ✓ step 1/3  new best    25.0 →  75.0 %  +50.0  2 edits
      ✗ step 2/3  rejected    75.0 →  37.5 %  -37.5  1 edit
      · step 3/3  no edits
        test      37.5 % with the initial skill
        test      87.5 % with the best skill"
    `);
  });

  it('are cut on a narrow terminal', () => {
    expect(lines(40).join('\n')).toMatchInlineSnapshot(`
      "training on sample: 3 steps, tasks 12 t…
        baseline  25.0 % on 8 validation tasks
      ✓ step 1/3  new best    25.0 →  75.0 %…
      ✗ step 2/3  rejected    75.0 →  37.5 %…
      · step 3/3  no edits
        test      37.5 % with the initial ski…
        test      87.5 % with the best skill"
    `);
  });

  it('say what a resumed run holds', () => {
    expect([emptyRun, stateAfter(2), stateAfter(10), stateAfter(sampleRun.length)].map(openLine)).toEqual([
      undefined,
      'going on with the run that is here',
      'going on after step 1 of 3',
      'this run is done already; --fresh starts anew',
    ]);
  });
});

describe('the line of a step', () => {
  const lineFor = (record: Record<string, unknown>) => {
    const end = sampleRun.findIndex((event) => event.type === 'step-end');
    const state = stateAfter(end + 1);
    const history = [{ ...state.history.at(-1)!, ...record }];
    return eventLine(sampleRun[end]!, { ...state, history }, { width: 100, colors: noColors });
  };

  it('says what would decide an undecided candidate', () => {
    const line = lineFor({ action: 'reject', verdict: 'inconclusive', needsRollouts: 60 });
    expect(line).toMatch(/^✗ step 1\/3 {2}undecided .* ≈ 60 more rollouts would decide it$/);
  });

  it('says after how many tasks a candidate was out, instead of a score', () => {
    const line = lineFor({ action: 'reject', verdict: 'reject', isPartial: true, nItemsMet: 4 });
    expect(line).toMatch(/rejected {3}after 4 of \d+ tasks/);
    expect(line).not.toContain('%');
  });
});

describe('progress', () => {
  const replay = (io: ReturnType<typeof captureIo>, options = {}) => {
    const progress = openProgress(openTerminal(io), options);
    progress.onOpen?.(emptyRun);
    sampleRun.forEach((event, index) => {
      progress.onEvent?.(event, stateAfter(index + 1));
    });
    const retry = { error: new Error('503\nbusy'), attempt: 1, delayMs: 500 };
    for (let call = 0; call < 3; call++) progress.onRetry?.(retry);
    progress.onWarning?.('the test split is empty');
    progress.close();
    return io;
  };

  it('is plain lines when nobody watches', () => {
    const { err } = replay(captureIo());
    expect(err()).not.toContain('\x1b');
    expect(err().split('\n').slice(-4)).toEqual([
      '  test      87.5 % with the best skill',
      '  retry 1 in 0.5 s: 503 busy',
      'warning: the test split is empty',
      '',
    ]);
  });

  it('says only warnings when it is to be quiet', () => {
    expect(replay(captureIo(), { isQuiet: true }).err()).toBe('warning: the test split is empty\n');
  });

  it('gives the cursor back on a terminal', () => {
    const { err } = replay(captureIo({ isTTY: true, columns: 60 }));
    expect(err().startsWith('\x1b[?25l')).toBe(true);
    expect(err().endsWith('\x1b[?25h')).toBe(true);
  });
});

describe('a live block', () => {
  it('is redrawn in place, and only when it changed', () => {
    const io = captureIo({ isTTY: true, columns: 10 });
    const block = openLiveBlock(io);
    block.draw(['one', 'two']);
    block.draw(['one', 'two']);
    block.draw(['three']);
    block.log('stays');
    block.close();
    block.close();
    const show = '\x1b[?25h';
    expect(io.err()).toBe(`\x1b[?25lone\ntwo\n\x1b[2F\x1b[Jthree\n\x1b[1F\x1b[Jstays\nthree\n\x1b[1F\x1b[J${show}`);
  });

  it('restores the terminal when the process exits in the middle', () => {
    const io = captureIo({ isTTY: true });
    openLiveBlock(io).draw(['x']);
    io.emit('exit');
    expect(io.err().endsWith('\x1b[?25h')).toBe(true);
  });
});
