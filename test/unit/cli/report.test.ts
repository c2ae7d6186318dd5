import { describe, expect, it } from 'vitest';
import { reportLines } from '../../../src/cli/report/report.ts';
import { colorsFor, noColors } from '../../../src/cli/terminal/colors.ts';
import { textWidth } from '../../../src/cli/terminal/text-width.ts';
import type { RunEvent } from '../../../src/core/run/event.ts';
import { reduce } from '../../../src/core/run/reduce/reduce.ts';
import { emptyRun, type RunState } from '../../../src/core/run/run-state.ts';
import type { StepRecord } from '../../../src/core/run/step-record.ts';
import { listEdits } from '../../../src/runs/edit-list.ts';
import { versionFinder } from '../../../src/runs/skill-version.ts';
import { INITIAL_SKILL, LEARNED, sampleRun } from '../../support/sample-run.ts';

const state = sampleRun.reduce(reduce, emptyRun);
const options = { run: 'sample', bestSkillPath: 'runs/sample/best_skill.md', width: 80, colors: noColors };

describe('the report of a run', () => {
  it('says what was learned in 80 columns', () => {
    expect(reportLines(state, options).join('\n')).toMatchInlineSnapshot(`
      "sample  done, 3 steps in 29 s

                  baseline    best  points  tasks
      validation    25.0 %  75.0 %   +50.0      8
      test          37.5 %  87.5 %   +50.0      8

      test by task type  baseline     best  points  tasks
      dates                50.0 %  100.0 %   +50.0      4
      money                25.0 %   75.0 %   +50.0      4

      accepted edits (1)  [points by itself]
        step 1   + [+50.0] Write dates as YYYY-MM-DD.

      rejected edits (1)
        step 2   + Guess.

      stage    calls  dollars  hits  tokens in  cached    out  retries  waited
      rollout    232     0.00    58     43,500       –  3,480       29       –

      best skill  runs/sample/best_skill.md
      next        npx skillopt diff sample
                  npx skillopt show sample --all"
    `);
  });

  it('says the same in 40', () => {
    expect(reportLines(state, { ...options, width: 40 }).join('\n')).toMatchInlineSnapshot(`
      "sample  done, 3 steps in 29 s

                  baseline    best  points
      validation    25.0 %  75.0 %   +50.0
      test          37.5 %  87.5 %   +50.0

      test by tas…  baseline     best  points
      dates           50.0 %  100.0 %   +50.0
      money           25.0 %   75.0 %   +50.0

      accepted edits (1)  [points by itself]
        step 1   + [+50.0] Write dates as YYY…

      rejected edits (1)
        step 2   + Guess.

      stage    calls  dollars  hits  tokens in
      rollout    232     0.00    58     43,500

      best skill  runs/sample/best_skill.md
      next        npx skillopt diff sample
                  npx skillopt show sample --all"
    `);
  });

  it('is no wider than the terminal, but for what is there to be copied', () => {
    for (let width = 30; width < 100; width++) {
      const tables = reportLines(state, { ...options, width }).slice(0, -3);
      for (const line of tables) expect(textWidth(line)).toBeLessThanOrEqual(width);
    }
  });

  it('has the figures it has when a run is not done', () => {
    const unfinished = sampleRun.slice(0, 10).reduce(reduce, emptyRun);
    expect(reportLines(unfinished, options).slice(0, 5).join('\n')).toMatchInlineSnapshot(`
      "sample  step 1 of 3 in 10 s

                  baseline    best  points  tasks
      validation    25.0 %  75.0 %   +50.0      8
      "
    `);
    expect(reportLines(emptyRun, options)[0]).toBe('sample  step 0 of 0 in 0.0 s');
  });

  it('cuts long lists and says how to see the rest', () => {
    const record = state.history[0]!;
    const many = { ...record, edits: Array(20).fill(record.edits[0]), editStatuses: Array(20).fill('applied_append') };
    const long: RunState = { ...state, history: [many] };
    expect(reportLines(long, options)).toContain('  … and 8 more: npx skillopt show sample --all');
    expect(reportLines(long, { ...options, isComplete: true }).join('\n')).not.toContain('more:');
  });

  it('shows types that changed when there are many', () => {
    const buckets = Object.fromEntries(
      Array.from({ length: 20 }, (_, index) => [`type ${index}`, { total: 1, hard: 0, soft: 0 }]),
    );
    const test = { hard: 0, soft: 0, n: 20, buckets };
    const best = { ...test, buckets: { ...buckets, 'type 7': { total: 1, hard: 1, soft: 1 } } };
    const lines = reportLines({ ...state, tests: { baseline: test, best } }, options);
    expect(lines.filter((line) => line.startsWith('type '))).toHaveLength(1);
    expect(lines).toContain('… and 19 that did not change');
  });

  it('shows every edit in full when asked, also those that did not fit', () => {
    const lines = reportLines(state, { ...options, isComplete: true });
    expect(lines).toContain('skipped edits (1): they did not fit the text');
    expect(lines).toContain('             (skipped replace target not found)');
  });

  it('says apart what was taken out again', () => {
    const [first, second, ...rest] = state.history as [StepRecord, StepRecord, ...StepRecord[]];
    const history = [first, { ...second, removed: [`- ${LEARNED}`] }, ...rest];
    const lines = reportLines({ ...state, history }, options);
    expect(lines).toContain('removed edits (1): the skill is better without');
    expect(lines.some((line) => line.startsWith('accepted edits'))).toBe(false);
  });

  it('says that the seed skill is kept where it measured better', () => {
    const estimate = (value: number) => ({ value, interval: { low: value - 0.05, high: value + 0.05 } });
    const measured = { hash: state.best.hash, passes: [{ hard: 0, soft: 0, scores: [] }], confidence: 0.95 };
    const event = {
      ...sampleRun.at(-1)!,
      ...{ type: 'final-measurement-end', ...measured, score: estimate(0.25), gain: estimate(-0.018) },
      ...{ isSeedBetter: true, isClaimed: false },
    } as RunEvent;
    const over = { ...state, final: { hard: 0.75, soft: 0.75, score: 0.75 } };
    const after = reduce(over, event);
    expect(after.best).toMatchObject({ skill: INITIAL_SKILL, origin: 'initial' });
    const kept = 'the seed skill measured better than the winner (-1.8 points) and is kept';
    const lines = reportLines(after, options);
    expect(lines).toContain(kept);
    expect(lines.join('\n')).toMatch(/validation +25\.0 % +25\.0 % +±0/);
    expect(lines.join('\n')).not.toContain('gain');
    // A run that is not over continues with its winner.
    const stopped = reportLines(reduce({ ...state, isDone: false }, event), options);
    expect(stopped).toContain('the seed skill measured better than the winner so far (-1.8 points)');
  });

  it('prints nothing that a model wrote to move the cursor', () => {
    const record = state.history[0]!;
    const evil = { ...record, edits: [{ op: 'append' as const, target: '', content: 'x\x1b[2Jy' }] };
    expect(reportLines({ ...state, history: [evil] }, options).join('\n')).not.toContain('\x1b');
  });
});

describe('edits', () => {
  it('are accepted, rejected or skipped, with the step they came from', () => {
    expect(listEdits(state).map(({ step, fate }) => [step, fate])).toEqual([
      [1, 'accepted'],
      [1, 'skipped'],
      [2, 'rejected'],
    ]);
  });
});

describe('a version of the skill', () => {
  function findVersion(events: readonly RunEvent[], name: string): string {
    const { watch, find } = versionFinder([name]);
    const state = events.reduce((before, event) => {
      const after = reduce(before, event);
      watch?.(event, after);
      return after;
    }, emptyRun);
    return find(name, state);
  }

  it('comes from the journal by name, step or file name', () => {
    const learned = `${INITIAL_SKILL}\n- ${LEARNED}\n`;
    const names = ['initial', '0', 'v0000', '1', 'v0002', 'best', 'current'];
    expect(names.map((name) => findVersion(sampleRun, name))).toEqual([
      ...[INITIAL_SKILL, INITIAL_SKILL, INITIAL_SKILL],
      ...[learned, learned, learned, learned],
    ]);
  });

  it.each(['4', 'last', '-1', 'toString'])('named %s does not exist', (name) => {
    expect(() => findVersion(sampleRun, name)).toThrow(`no version ${name}`);
  });
});

describe('colours', () => {
  const isColored = (stream: { isTTY?: boolean }, env: Record<string, string>) =>
    colorsFor({ ...stream, write: () => {} }, env).isColorSupported;

  it('are for terminals, unless the environment says otherwise', () => {
    expect(isColored({ isTTY: true }, {})).toBe(true);
    expect(isColored({}, {})).toBe(false);
    expect(isColored({ isTTY: true }, { NO_COLOR: '1' })).toBe(false);
    expect(isColored({ isTTY: true }, { TERM: 'dumb' })).toBe(false);
    expect(isColored({}, { FORCE_COLOR: '1' })).toBe(true);
    expect(isColored({ isTTY: true }, { FORCE_COLOR: '0' })).toBe(false);
  });
});
