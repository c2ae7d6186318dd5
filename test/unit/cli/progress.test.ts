import { memoryRun, type SkillOptConfigInput, skillHash } from 'skillopt';
import { scripted } from 'skillopt/testing';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { openLiveBlock } from '../../../src/cli/progress/live-block.ts';
import { openProgress } from '../../../src/cli/progress/progress.ts';
import { openTerminal } from '../../../src/cli/terminal/terminal.ts';
import { noGateEvidence } from '../../../src/core/run/gate-evidence.ts';
import { emptyRun, type Progress, type RunEvent, type RunState, reduce } from '../../../src/core/run/index.ts';
import { eventLines, finishedRollouts, openLine, progressBlock, textWidth } from '../../../src/report/index.ts';
import { noColors } from '../../../src/report/layout.ts';
import { plannedRollouts } from '../../../src/report/progress-block.ts';
import { captureIo } from '../../support/capture-io.ts';
import { sampleRun } from '../../support/sample-run.ts';
import { appends, levelOf, scriptedRun } from '../../support/scripted-run.ts';
import { DEFAULT_GATE } from '../../support/strict-gate.ts';

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
    const state = { ...stateAfter(10), items: { train: 10, val: 8, test: 8 }, baseline: undefined };
    const history = [1, 2, 3].map((step) => ({ ...state.history[0]!, step }));
    expect(finishedRollouts({ ...state, history })).toBe(10 + 3 * 8);
  });

  it('counts what is not read again after a win as done', () => {
    const { config, ...state } = stateAfter(18); // a win, then a loss
    const planned = { ...state, totalSteps: 9, config: { ...config!, proposalsPerBatch: 3 } };
    expect(plannedRollouts(planned)).toBe(8 + 12 + 9 * 8 + 2 * 8);
    expect(finishedRollouts(planned)).toBe(8 + (4 + 3 * 8) + (4 + 8));
  });

  it('goes by what was made where that is limited', () => {
    const { config, ...state } = stateAfter(18);
    const limited = { ...state, config: { ...config!, maxRollouts: 100 } };
    expect(plannedRollouts(limited)).toBe(100 + 2 * 8);
    expect(finishedRollouts(limited)).toBe(state.rollouts);
    expect(finishedRollouts({ ...limited, searchEnd: 'rollouts_spent' })).toBe(100);
  });
});

describe('the live block', () => {
  const view = { state: inSecondStep, progress: evaluating, elapsedMs: 4000, finishedBefore: 0 };
  const block = (width: number) => progressBlock(view, { width, colors: noColors });

  it('shows where the run is, how good it is and what it costs', () => {
    expect(block(80).join('\n')).toMatchInlineSnapshot(`
      "━━━━━━━━━━━━━━━━━━────────────────────── 45 %  27 rollouts
      step 2/3 · epoch 1/1 · evaluate 3/8
      validation 75.0 % · best 75.0 % · baseline 25.0 % · 1 edit kept
      4.0 s elapsed · about 4.9 s left · 96 calls, 24 from cache"
    `);
  });

  it('leaves out what does not fit', () => {
    expect(block(40).join('\n')).toMatchInlineSnapshot(`
      "━━━━━━━━━──────────── 45 %  27 rollouts
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

  it('tells the way that is behind from the attempts that were made, where these are limited', () => {
    const { config, ...state } = stateAfter(18);
    const over = { ...state, config: { ...config!, maxRollouts: 100 }, searchEnd: 'nothing_to_gain' } as const;
    const [bar] = progressBlock({ ...view, state: over, progress: undefined }, { width: 90, colors: noColors });
    expect(bar).toContain(` 86 %  ${state.rollouts} rollouts of at most 116`);
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
    sampleRun.flatMap((event, index) =>
      eventLines(event, { before: stateAfter(index), after: stateAfter(index + 1) }, { width, colors: noColors }),
    );

  it('are one for the start, the baseline, each step and each test', () => {
    expect(lines(80).join('\n')).toMatchInlineSnapshot(`
      "training sample: 3 steps, tasks 12 train, 8 val, 8 test
        baseline  25.0 % on 8 validation tasks
      ✓ step 1/3  new best    25.0 →  75.0 %  +50.0  2 edits
      ✗ step 2/3  rejected            37.5 %  -37.5  1 edit
      · step 3/3  no edits
        test      37.5 % with the initial skill
        test      87.5 % with the best skill"
    `);
  });

  it('are cut on a narrow terminal', () => {
    expect(lines(40).join('\n')).toMatchInlineSnapshot(`
      "training sample: 3 steps, tasks 12…
        baseline  25.0 % on 8 validation tasks
      ✓ step 1/3  new best    25.0 →  75.0 %…
      ✗ step 2/3  rejected            37.5 %…
      · step 3/3  no edits
        test      37.5 % with the initial…
        test      87.5 % with the best skill"
    `);
  });

  it('are whole in a pipe', () => {
    const name = `a-${'long-'.repeat(20)}name`;
    const io = captureIo();
    const progress = openProgress(openTerminal(io));
    const [start] = sampleRun as [Extract<RunEvent, { type: 'run-start' }>];
    progress.onEvent?.({ ...start, config: { ...start.config, outRoot: `runs/${name}` } }, stateAfter(1));
    progress.close();
    expect(io.err()).toBe(`training ${name}: 3 steps, tasks 12 train, 8 val, 8 test\n`);
  });

  it('say what a resumed run holds', () => {
    expect([emptyRun, stateAfter(2), stateAfter(10), stateAfter(sampleRun.length)].map(openLine)).toEqual([
      undefined,
      'resuming the run that is here',
      'resuming after step 1 of 3',
      'this run is done already; --fresh starts over',
    ]);
  });
});

describe('the line of a step', () => {
  const end = sampleRun.findIndex((event) => event.type === 'step-end');
  const lineFor = (record: Record<string, unknown>, config = {}) => {
    const state = stateAfter(end + 1);
    const history = [{ ...state.history.at(-1)!, ...record }];
    const after = { ...state, history, config: { ...state.config!, ...config } };
    const [line, ...more] = eventLines(sampleRun[end]!, { before: stateAfter(end), after }, look);
    expect(more).toEqual([]);
    return line;
  };
  const look = { width: 100, colors: noColors };
  const lost = { action: 'reject', verdict: 'reject', nItems: 40, expectedGain: -0.013, chance: 0.02 };

  it('says how many edits were refused for hidden text', () => {
    const editStatuses = ['skipped_hidden_character', 'skipped_html_comment'];
    expect(lineFor({ action: 'unchanged', editStatuses })).toBe(
      '· step 1/3  unchanged  2 edits  2 refused: hidden text',
    );
  });

  it('says what was expected of a candidate that lost', () => {
    expect(lineFor(lost)).toBe('✗ step 1/3  rejected   expected -1.3 points, chance 2 %  2 edits');
  });

  it('says where an undecided candidate was left, and what would decide it', () => {
    const undecided = { ...lost, verdict: 'inconclusive', nItemsMet: 16, needsRollouts: 60 };
    const line = lineFor(undecided);
    expect(line).toMatch(/^✗ step 1\/3 {2}undecided {2}after 16 of 40 tasks .* ≈ 60 more rollouts would decide it$/);
    expect(lineFor({ ...undecided, nItemsMet: undefined })).toContain('undecided  after all 40 tasks');
    expect(lineFor({ ...undecided, needsRollouts: 192_000 })).toMatch(
      / {2}to decide it: more than this run could pay for$/,
    );
  });

  it('says why a candidate lost that was ahead', () => {
    expect(lineFor({ ...lost, chance: 0.98, verdictReason: '2 of 40 items got worse' })).toContain('got worse');
  });

  it('says after how many tasks a candidate was out, instead of a score, where nothing else is known', () => {
    const line = lineFor({ action: 'reject', isPartial: true, nItemsMet: 4 });
    expect(line).toMatch(/rejected {3}after 4 of 8 tasks/);
    expect(line).not.toContain('%');
  });

  it('says how early a winner was taken, and where everything was said before', () => {
    expect(lineFor({ nItemsMet: 4, nItems: 8 })).toMatch(/\+50\.0 {2}after 4 of 8 tasks {2}2 edits$/);
    const nothing = { action: 'skip_no_patches', edits: [], nRepeats: 2 };
    expect(lineFor(nothing)).toBe('· step 1/3  no edits   nothing but 2 repeats');
  });

  it('has no total where nobody knows how many steps there will be', () => {
    expect(lineFor({}, { proposalsPerBatch: 3 })).toMatch(/^✓ step 1 {2}new best/);
    expect(lineFor({}, { maxRollouts: 100 })).toMatch(/^✓ step 1 {2}new best/);
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

  it('breaks its own lines between words on a narrow terminal', () => {
    const io = captureIo({ isTTY: true, columns: 60, env: { NO_COLOR: '1' } });
    const progress = openProgress(openTerminal(io));
    progress.log('stopping after the calls in flight (≤ 10 s); press Ctrl-C again to quit now');
    progress.close();
    expect(io.err()).toContain('stopping after the calls in flight (≤ 10 s); press Ctrl-C\nagain to quit now\n');
  });

  it('says only warnings when it is to be quiet', () => {
    expect(replay(captureIo(), { isQuiet: true }).err()).toBe('warning: the test split is empty\n');
  });

  it('leaves nothing of the block on the screen when the process ends in the midst of it', () => {
    const io = captureIo({ isTTY: true, columns: 60, env: { NO_COLOR: '1' } });
    const block = openLiveBlock(openTerminal(io).io);
    block.draw(['━━━─── 50 %', 'step 1']);
    io.emit('exit'); // a second Ctrl-C
    expect(io.err().endsWith('━━━─── 50 %\nstep 1\n\x1b[2F\x1b[J\x1b[?25h')).toBe(true);
    block.close();
    expect(io.err().endsWith('\x1b[2F\x1b[J\x1b[?25h')).toBe(true);
  });

  it('gives the cursor back on a terminal', () => {
    const { err } = replay(captureIo({ isTTY: true, columns: 60 }));
    expect(err().startsWith('\x1b[?25l')).toBe(true);
    expect(err().endsWith('\x1b[?25h')).toBe(true);
  });
});

describe('a live block', () => {
  const ERASED = '\x1b[1F\x1b[J';

  it('leaves what is said meanwhile above itself, and does not write over it', () => {
    const io = captureIo({ isTTY: true, columns: 60, env: { NO_COLOR: '1' } });
    const terminal = openTerminal(io);
    const block = openLiveBlock(terminal.io);
    block.draw(['one']);
    terminal.say('estimate: 40 calls');
    block.draw(['two']);
    block.close();
    terminal.say('after');
    const drawn = `\x1b[?25lone\n${ERASED}estimate: 40 calls\none\n${ERASED}two\n${ERASED}\x1b[?25hafter\n`;
    expect(io.err()).toBe(drawn);
  });

  it('of a night begins with its first run: before that a person is asked, and transcripts are read', () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const io = captureIo({ isTTY: true, columns: 60 });
    const progress = openProgress(openTerminal(io), { isNight: true });
    vi.advanceTimersByTime(500);
    expect(io.err()).toBe('');
    progress.onOpen?.(emptyRun);
    vi.advanceTimersByTime(500);
    expect(io.err()).not.toBe('');
    progress.close();
  });
});

describe('a provider that wants pauses', () => {
  const slowDown = (io: ReturnType<typeof captureIo>, account = 'openai api.example') => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const progress = openProgress(openTerminal(io));
    for (let pause = 0; pause < 40; pause++) {
      progress.onRateLimit?.({ account, type: 'pause', reason: 'asked', pauseMs: 3_000 });
    }
    for (let retry = 1; retry <= 40; retry++) {
      progress.onRetry?.({ error: new Error('503 busy'), attempt: retry, delayMs: 500 });
    }
    vi.advanceTimersByTime(200);
    progress.close();
    return io.err();
  };

  it('is one counter on a terminal', () => {
    const err = slowDown(captureIo({ isTTY: true, columns: 300 }));
    expect(err.match(/wants a pause/g)).toHaveLength(1);
    expect(err).toContain('wants a pause: 3.0 s (40 pauses, 2:00 in all)');
    expect(err.match(/retry \d/g)).toHaveLength(1);
    expect(err).toContain('(40 retries so far)');
    expect(err.endsWith('\x1b[J\x1b[?25h')).toBe(true); // nothing of it stays
  });

  it('is whole lines in a file, not one for each', () => {
    const account = `openai ${'very-'.repeat(20)}long.example`;
    const lines = slowDown(captureIo(), account).trimEnd().split('\n');
    expect(lines).toEqual([`  ${account} wants a pause: 3.0 s`, '  retry 1 in 0.5 s: 503 busy']);
  });
});

describe('a live block', () => {
  it('is redrawn in place, and only when it changed', () => {
    const io = captureIo({ isTTY: true, columns: 10 });
    const terminal = openTerminal(io);
    const block = openLiveBlock(terminal.io);
    block.draw(['one', 'two']);
    block.draw(['one', 'two']);
    block.draw(['three']);
    terminal.say('stays');
    block.close();
    block.close();
    const show = '\x1b[?25h';
    expect(io.err()).toBe(`\x1b[?25lone\ntwo\n\x1b[2F\x1b[Jthree\n\x1b[1F\x1b[Jstays\nthree\n\x1b[1F\x1b[J${show}`);
  });

  it('restores the terminal when the process exits in the middle', () => {
    const io = captureIo({ isTTY: true });
    openLiveBlock(openTerminal(io).io).draw(['x']);
    io.emit('exit');
    expect(io.err().endsWith('\x1b[?25h')).toBe(true);
  });
});

describe('what the lines of a run say of the current skill', () => {
  const SIZES = { train: 12, val: 24, test: 0 };
  /** Every task is a coin, weighted by the level; a pure function of the request. */
  const noisy = (seed: number) =>
    scripted('noisy', ({ messages, sampleIndex = 0 }) => {
      const [system, user] = [messages[0]!.content, messages[1]!.content];
      const dice = Number.parseInt(skillHash(`${seed} ${system} ${user} ${sampleIndex}`).slice(0, 6), 16) / 0xffffff;
      return String(Number(dice < 0.2 + 0.15 * Math.min(5, levelOf(system))));
    });
  const linesOf = async (seed: number, config: SkillOptConfigInput = {}) => {
    const store = memoryRun();
    await scriptedRun({
      solves: () => true,
      sizes: SIZES,
      script: {
        analyst: ({ user, step }) =>
          appends(`LEVEL=${levelOf(user) + (step % 3)} of ${step}`, `A remark of step ${step}.`),
      },
      options: { target: noisy(seed) },
      config: { ...DEFAULT_GATE, numEpochs: 3, batchSize: 6, seed, ...config },
      store,
    });
    let state = emptyRun;
    return store.events.flatMap((event) => {
      const before = state;
      state = reduce(before, event);
      return eventLines(event, { before, after: state }, { width: 200, colors: noColors });
    });
  };

  it('begins where the line before ended', async () => {
    const kinds = new Set<string>();
    for (const seed of [1, 2, 3]) {
      const lines = await linesOf(seed);
      let last = /baseline {2}(\S+)/.exec(lines[1]!)![1];
      for (const line of lines) {
        const [, from, to] = / +(\d+\.\d) → +(\d+\.\d) %/.exec(line) ?? [];
        if (from === undefined) continue;
        kinds.add(line.includes('measured again') ? 'again' : 'won');
        expect(from, line).toBe(last);
        last = to;
      }
    }
    expect([...kinds].sort()).toEqual(['again', 'won']);
  });

  it('tells why the search ended early', async () => {
    expect(await linesOf(1, { maxRollouts: 300 })).toContain('  too few of the 300 rollouts are left for another step');
  });
});

describe('the line of a search that has nothing left to gain', () => {
  const perfect = { sum: 2, count: 2 };
  const lineFor = (own: RunState['gate']['own']) => {
    const after = { ...stateAfter(10), gate: { ...noGateEvidence, own } };
    const event = { ...sampleRun[10]!, type: 'search-end', reason: 'nothing_to_gain' } as RunEvent;
    return eventLines(event, { before: after, after }, { width: 100, colors: noColors });
  };

  it('says whether every task passes', () => {
    const item = { ...perfect, sumSquares: 2 };
    expect(lineFor({ a: item })).toEqual([
      '  nothing left to gain: every task that it is chosen by passed when last tried',
    ]);
    expect(lineFor({ a: item, b: { ...item, sum: 1 } })).toEqual([
      '  nothing left to gain: the tasks that it is chosen by are at 75.0 %',
    ]);
  });
});

describe('the line of a removal', () => {
  const lines = (action: 'accept_new_best' | 'reject') => {
    const before = stateAfter(10);
    const after = { ...before, current: { ...before.current, score: 0.8 } };
    const event = { ...sampleRun[10]!, type: 'removal-end', step: 2, of: 1, removed: ['x'], action } as RunEvent;
    return eventLines(event, { before, after }, { width: 100, colors: noColors });
  };

  it('is there when something was taken out', () => {
    expect(lines('accept_new_best')).toEqual([
      '✓ without what step 1 added last: better, taken out   75.0 →  80.0 %   +5.0',
    ]);
    expect(lines('reject')).toEqual([]);
  });
});
