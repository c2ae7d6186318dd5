import { describe, expect, it } from 'vitest';
import { versionFinder } from '../../../src/app/index.ts';
import { joinPackage } from '../../../src/core/document/index.ts';
import {
  emptyRun,
  listEdits,
  type RunEvent,
  type RunState,
  reduce,
  type StepRecord,
} from '../../../src/core/run/index.ts';
import { colorsFor, reportLines, textWidth } from '../../../src/report/index.ts';
import { noColors } from '../../../src/report/layout.ts';
import { INITIAL_SKILL, LEARNED, sampleRun } from '../../support/sample-run.ts';

const state = sampleRun.reduce(reduce, emptyRun);
const options = { run: 'sample', bestSkillPath: 'runs/sample/best_skill.md', width: 80, colors: noColors };

describe('the report of a run', () => {
  it('says what was learned in 80 columns', () => {
    expect(reportLines(state, options).join('\n')).toMatchInlineSnapshot(`
      "Better: 37.5 → 87.5 % on 8 tasks it never saw, proven, +6 to +94 points.
      261 calls, $0.00. 1 line added.
      On the 8 tasks it was chosen by: 25.0 → 75.0 %.

      what changed
      + - Write dates as YYYY-MM-DD.
      lines added: 0 proven, 1 plausible, 0 unsupported

      4 tasks gained: t3, t4, t5, t6

      what it cost  calls  tokens  dollars
      trying tasks    261  46,980     0.00
      in all, 29 s    261  46,980     0.00

      next:  runs/sample/best_skill.md  is the better skill, ready to copy"
    `);
  });

  it('says the same in 40', () => {
    expect(reportLines(state, { ...options, width: 40 }).join('\n')).toMatchInlineSnapshot(`
      "Better: 37.5 → 87.5 % on 8 tasks it
      never saw, proven, +6 to +94 points.
      261 calls, $0.00. 1 line added.
      On the 8 tasks it was chosen by: 25.0 →
      75.0 %.

      what changed
      + - Write dates as YYYY-MM-DD.
      lines added: 0 proven, 1 plausible, 0
      unsupported

      4 tasks gained: t3, t4, t5, t6

      what it cost  calls  tokens  dollars
      trying tasks    261  46,980     0.00
      in all, 29 s    261  46,980     0.00

      next:  runs/sample/best_skill.md
             is the better skill, ready to
             copy"
    `);
  });

  it('is no wider than the terminal, but for what is there to be copied', () => {
    for (let width = 30; width < 100; width++) {
      const lines = reportLines(state, { ...options, width });
      for (const line of lines.filter((each) => !/npx|skill\.md/.test(each)))
        expect(textWidth(line)).toBeLessThanOrEqual(width);
    }
  });

  it('has the figures it has when a run is not done', () => {
    const unfinished = sampleRun.slice(0, 10).reduce(reduce, emptyRun);
    expect(reportLines(unfinished, options).slice(0, 3).join(' ')).toBe(
      'Not finished, 1 of 3 steps done: so far 25.0 → 75.0 % on the 8 tasks it was chosen by, as the search itself saw it, which is too optimistic. 90 calls, $0.00. 1 line added.',
    );
    expect(reportLines(unfinished, { ...options, isRunning: true })[0]).toMatch(/^Running, 1 of 3 steps done: /);
    expect(reportLines(emptyRun, options)[0]).toBe(
      'Not finished, 0 of 0 steps done: nothing is measured yet. 0 calls, $0.00.',
    );
  });

  it('fits a screen, however much there is to say, and says how to see the rest', () => {
    const lines = Array.from({ length: 300 }, (_, at) => `- Rule ${at}`).join('\n');
    const test = Object.fromEntries(
      Array.from({ length: 300 }, (_, at) => [`task-${at}`, { sum: 0, sumSquares: 0, count: 1 }]),
    );
    const passed = Object.fromEntries(Object.keys(test).map((id) => [id, { sum: 1, sumSquares: 1, count: 1 }]));
    const long: RunState = {
      ...state,
      best: { ...state.best, skill: `${state.best.skill}${lines}\n` },
      testEvidence: { baseline: test, best: passed },
    };
    const shown = reportLines(long, options);
    expect(shown.length).toBeLessThanOrEqual(23);
    expect(shown.join('\n')).toMatch(/… and \d+ more lines: npx skillopt diff sample/);
    expect(shown.join('\n')).toMatch(/^300 tasks gained: task-0, .* and \d+ more$/m);
    const all = reportLines(long, { ...options, isComplete: true }).join('\n');
    expect(all).toContain('task-299');
    expect(all).toContain('+ - Rule 299');
  });

  it('leaves out kinds of tasks that are too few to tell, and counts them', () => {
    const bucket = (total: number, hard: number) => ({ total, hard, soft: hard });
    const test = (hard: number) => ({
      hard,
      soft: hard,
      n: 22,
      buckets: { many: bucket(13, hard), few: bucket(9, hard) },
    });
    const lines = reportLines(
      { ...state, tests: { baseline: test(0), best: test(1) } },
      { ...options, isComplete: true },
    );
    expect(lines.join('\n')).toMatch(/^many +0\.0 % +100\.0 % +\+100\.0 +13$/m);
    expect(lines.join('\n')).not.toMatch(/^few /m);
    expect(lines).toContain('1 kind of fewer than 10 tasks left out');
  });

  it('shows every edit in full when asked, also those that did not fit', () => {
    const lines = reportLines(state, { ...options, isComplete: true });
    expect(lines).toContain('skipped edits (1): they did not fit the text');
    expect(lines).toContain('             (skipped replace target not found)');
  });

  it('says apart what was taken out again', () => {
    const [first, second, ...rest] = state.history as [StepRecord, StepRecord, ...StepRecord[]];
    const history = [first, { ...second, removed: [`- ${LEARNED}`] }, ...rest];
    const lines = reportLines({ ...state, history }, { ...options, isComplete: true });
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
    const over = { ...state, testEvidence: {}, final: { hard: 0.75, soft: 0.75, score: 0.75 } };
    const after = reduce(over, event);
    expect(after.best).toMatchObject({ skill: INITIAL_SKILL, origin: 'initial' });
    expect(reportLines(after, { ...options, width: 200 })[0]).toBe(
      'No change: what the search chose lost in fresh attempts (-1.8 points). Your skill stays as it was, 25.0 % on the 8 tasks it was chosen by. 270 calls, $0.00.',
    );
  });

  it('says what to do next, by what came out', () => {
    const next = (run: RunState, more: object = {}) =>
      reportLines(run, { ...options, ...more }).findLast((line) => line.startsWith('next:'));
    expect(next({ ...state, testEvidence: {} })).toBe(
      'next:  npx skillopt calibrate  tells which gains these tasks can prove',
    );
    const sure = (passed: number) =>
      Object.fromEntries(
        Array.from({ length: 40 }, (_, at) => [`t${at}`, { sum: passed, sumSquares: passed, count: 1 }]),
      );
    const better = { ...state, testEvidence: { baseline: sure(0), best: sure(1) } };
    expect(next(better)).toBe('next:  runs/sample/best_skill.md  is the better skill, ready to copy');
    expect(next(better, { skillFile: 'SKILL.md' })).toBe(
      'next:  npx skillopt apply sample  puts it in place of SKILL.md',
    );
    const config = { ...state.config!, parts: ['body' as const, 'scripts' as const] };
    const scripts = (best: Record<string, string>) => {
      const before = { 'SKILL.md': 'a\n', 'scripts/a.sh': 'one\n' };
      const skill = joinPackage({ ...before, ...best });
      return { ...better, config, initialSkill: joinPackage(before), best: { ...state.best, skill } };
    };
    const skillFile = 'skills/pdf/SKILL.md';
    expect(next(scripts({ 'scripts/a.sh': 'two\n' }), { skillFile })).toBe(
      'next:  npx skillopt apply sample  puts it in place of skills/pdf/scripts/a.sh',
    );
    const created = scripts({ 'scripts/a.sh': 'two\n', 'scripts/b.sh': 'new\n' });
    expect(next(created, { skillFile })).toBe(
      'next:  npx skillopt apply sample  puts 2 changed files in place in skills/pdf/',
    );
    // The line that names the new file is none that was added to it.
    expect(reportLines(created, { ...options, width: 200 })[0]).toContain('2 lines added, 1 removed');
    expect(next(better, { skillFile, run: "it's $(x)" })).toContain(`npx skillopt apply 'it'\\''s $(x)'`);
    const worse = { ...state, testEvidence: { baseline: sure(1), best: sure(0) } };
    expect(next(worse)).toBe('next:  npx skillopt show sample --all  shows every edit and what became of it');
    expect(next({ ...state, isDone: false })).toBe('next:  npx skillopt train  resumes it; give the same flags');
    expect(next({ ...state, answers: { analyst: { read: 0, unreadable: 2 } } })).toBe(
      'next:  npx skillopt doctor  asks each model one question',
    );
    expect(next(state, { night: 'night-3' })).toBe('next:  npx skillopt show night-3  tells what came of it');
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
    colorsFor(stream, env).isColorSupported;

  it('are for terminals, unless the environment says otherwise', () => {
    expect(isColored({ isTTY: true }, {})).toBe(true);
    expect(isColored({}, {})).toBe(false);
    expect(isColored({ isTTY: true }, { NO_COLOR: '1' })).toBe(false);
    expect(isColored({ isTTY: true }, { TERM: 'dumb' })).toBe(false);
    expect(isColored({}, { FORCE_COLOR: '1' })).toBe(true);
    expect(isColored({ isTTY: true }, { FORCE_COLOR: '0' })).toBe(false);
  });
});
