import { emptyRun, type RunEvent, reduce, type SkillOptConfigInput } from 'skillopt';
import { describe, expect, it } from 'vitest';
import {
  editSupport,
  lineSupport,
  openEvidence,
  type RunState,
  standingWords,
  supportWords,
} from '../../../src/core/run/index.ts';
import { reportLines, reportView } from '../../../src/report/index.ts';
import { noColors } from '../../../src/report/layout.ts';
import { appends, type Script, scriptedRun, type Task } from '../../support/scripted-run.ts';

/** 6 of 20 tasks are solved; GAIN solves 8 more. */
const solves = (skill: string, { k }: Task) => k < 6 || (k < 14 && skill.includes('GAIN'));

async function run(analyst: Script[string], config: SkillOptConfigInput = {}): Promise<RunState> {
  const { store } = await scriptedRun({
    solves,
    sizes: { train: 10, val: 20, test: 0 },
    initialSkill: '# Skill\n\n- Be brief.\n',
    script: { analyst },
    config: { numEpochs: 1, batchSize: 10, minibatchSize: 10, evalTest: false, dropRepeats: false, ...config },
  });
  return store.events.reduce(reduce, emptyRun);
}

/** Measured again at the end, and with nothing taken out. */
const PROVEN: SkillOptConfigInput = { gate: 'paired', tryShorter: false, finalPasses: 2 };

const standings = (state: RunState) => lineSupport(state).map(({ line, standing, step }) => [line, standing, step]);

/** The first minibatch has failures, the last one successes. */
function eachAsks(...replies: readonly (readonly string[])[]) {
  let asked = 0;
  return () => appends(...(replies[asked++ % replies.length] ?? []));
}

describe('a line that a run added', () => {
  it('is proven if a gate that knows noise took it alone, and the final measurement proves the skill', async () => {
    const proven = await run(() => appends('GAIN'), PROVEN);
    expect(standings(proven)).toEqual([['GAIN', 'proven', 1]]);
    expect(lineSupport(proven)[0]!.gain).toBeGreaterThan(0);
    const unmeasured = await run(() => appends('GAIN'), { ...PROVEN, finalPasses: 0 });
    expect(standings(unmeasured)).toEqual([['GAIN', 'plausible', 1]]);
  });

  it('needs a surer gain the more was tried', async () => {
    const state = await run(() => appends('GAIN'), PROVEN);
    const [first] = state.history as [RunState['history'][number]];
    const beside = (lost: number, chance: number) => {
      const others = Array.from({ length: lost }, () => ({ ...first, action: 'reject' as const }));
      return lineSupport({
        ...state,
        history: [{ ...first, editEffects: [{ ...first.editEffects![0]!, chance }] }, ...others],
      })[0]!.standing;
    };
    expect([beside(0, 0.96), beside(1, 0.96), beside(1, 0.98)]).toEqual(['proven', 'plausible', 'proven']);
    expect([beside(30, 0.998), beside(30, 0.999)]).toEqual(['plausible', 'proven']);
  });

  it('is plausible if the gate that took it alone knows no noise', async () => {
    const state = await run(() => appends('GAIN'));
    expect(standings(state)).toEqual([['GAIN', 'plausible', 1]]);
    expect(supportWords(lineSupport(state)[0]!)).toBe('+40.0 points by itself, may be luck');
  });

  it('is plausible if two analysts asked for it, and unsupported if one did', async () => {
    const state = await run(eachAsks(['GAIN now.', 'Be kind to all.'], ['GAIN now.', 'Be quick at all.']));
    expect(standings(state)).toEqual([
      ['GAIN now.', 'plausible', 1],
      ['Be kind to all.', 'unsupported', 1],
      ['Be quick at all.', 'unsupported', 1],
    ]);
    expect(state.history[0]!.analystCounts).toEqual([2, 1, 1]);
    expect(lineSupport(state).map(supportWords)).toEqual([
      '2 analysts asked for it',
      'measured together with others',
      'measured together with others',
    ]);
  });

  it('has as many analysts as must have read the attempts that speak for it, if a merge has reworded it', async () => {
    const edits = [
      { op: 'append', content: 'GAIN, in other words.', support_count: 9 },
      { op: 'append', content: 'Something else again.', support_count: 2 },
    ];
    const { store } = await scriptedRun({
      solves,
      sizes: { train: 10, val: 20, test: 0 },
      script: { analyst: () => appends('GAIN'), merge: () => ({ reasoning: '', edits }) },
      config: { numEpochs: 1, batchSize: 10, minibatchSize: 6, evalTest: false },
    });
    const [record] = store.events.reduce(reduce, emptyRun).history;
    expect(record!.analystCounts).toEqual([2, 1]);
  });

  it.each([
    ['all that it helps with', 20, 'proven'],
    ['few tasks', 8, 'plausible'],
    ['tasks that it does not help with', 5, 'unsupported'],
  ] as const)('stands by the skill without it: tried on %s', async (_, met, standing) => {
    const state = await run(() => appends('GAIN', 'Be kind to all.'), PROVEN);
    const scores = (skill: string) =>
      Array.from({ length: met }, (_, k) => {
        const hard = Number(solves(skill, { id: `val-${k}`, k }));
        return { id: `val-${k}`, hard, soft: hard };
      });
    const [own, without] = [scores('GAIN'), scores('')];
    const expectedGain = without.reduce((sum, { hard }, k) => sum + hard - own[k]!.hard, 0) / 20;
    const decision = { expectedGain, verdict: 'reject', refreshed: [] };
    const evaluation = { hard: 0, soft: 0, scores: without };
    const known = { ...state, gate: openEvidence([own], state.config!) };
    const trial = { candidateSkill: '# Skill', candidateHash: 'h', evaluation, score: 0, isPartial: true, decision };
    const event = {
      type: 'removal-end',
      action: 'reject',
      of: 1,
      removed: ['GAIN'],
      ...trial,
      at: '',
      ms: 0,
      usage: {},
    };
    const [line, other] = lineSupport(reduce(known, event as unknown as RunEvent));
    expect(line).toMatchObject({ standing, gain: expectedGain === 0 ? 0 : -expectedGain });
    expect(other).toMatchObject({ standing: 'plausible', gain: null, analysts: 2 });
  });

  it('has one analyst for sure if a merge has reworded it and nobody knows what each analyst has read', async () => {
    const edits = [
      { op: 'append', content: 'GAIN, in other words.', support_count: 9 },
      { op: 'append', content: 'Be kind to all.', support_count: 2 },
    ];
    const { store } = await scriptedRun({
      solves,
      sizes: { train: 10, val: 20, test: 0 },
      script: { analyst: () => appends('GAIN', 'Be kind to all.'), merge: () => ({ reasoning: '', edits }) },
      config: { numEpochs: 1, batchSize: 10, minibatchSize: 6, evalTest: false },
    });
    const unsized = store.events.map((event) =>
      event.type === 'stage-end' && event.stage === 'reflect'
        ? { ...event, patches: event.patches.map(({ batchSize: _size, ...patch }) => patch) }
        : event,
    ) as RunEvent[];
    const linesOf = (events: readonly RunEvent[]) =>
      lineSupport(events.reduce(reduce, emptyRun)).map(({ standing, analysts }) => [standing, analysts]);
    expect(linesOf(store.events)).toEqual([
      ['plausible', 2],
      ['plausible', 2],
    ]);
    expect(linesOf(unsized), 'who wrote the same words is known all the same').toEqual([
      ['unsupported', 1],
      ['plausible', 2],
    ]);
  });

  it('is no line of the first skill, no marker and no empty line, and may be written by no edit', () => {
    const initialSkill = '# Skill\n\n- Be brief.\n';
    const skill = `${initialSkill}\n<!-- SLOW_UPDATE_START -->\nLook twice.\n<!-- SLOW_UPDATE_END -->\n`;
    const lines = lineSupport({ ...emptyRun, initialSkill, best: { ...emptyRun.best, skill } });
    expect(lines).toEqual([{ line: 'Look twice.', standing: 'unsupported', gain: null, analysts: null, step: null }]);
    expect(supportWords(lines[0]!)).toBe('no edit wrote this whole line');
  });

  it('was never measured by itself in a rewritten document, or with older records', async () => {
    const state = await run(() => appends('GAIN', 'Be kind to all.'));
    const [{ analystCounts: _counts, ...record }] = state.history as [RunState['history'][number]];
    expect(editSupport(record, 0)).toEqual({ standing: 'unsupported', gain: null, analysts: null });
    const rewrite = { ...record, edits: [{ op: 'rewrite' as const, target: '', content: 'GAIN' }] };
    const editEffects = [{ gain: 0.4, measuredBy: 'own_step' as const, tasks: 20, chance: 0.99 }];
    expect(editSupport({ ...rewrite, editEffects }, 0).standing).toBe('unsupported');
  });

  it('has the strongest standing of several steps that wrote it, and of equal ones the last', async () => {
    const state = await run(() => appends('GAIN', 'Be kind to all.'), PROVEN);
    const [first] = state.history as [RunState['history'][number]];
    const own = { measuredBy: 'own_step' as const, tasks: 20 };
    const [lost, may, proven] = [
      { ...own, gain: -0.1 },
      { ...own, gain: 0.1 },
      { ...own, gain: 0.2, chance: 0.99 },
    ];
    const wroteBy = (...effects: readonly (typeof lost)[]) => {
      const history = effects.map((effect, index) => ({ ...first, step: index + 1, editEffects: [effect, lost] }));
      return lineSupport({ ...state, history })[0];
    };
    expect(wroteBy(may, proven, lost)).toMatchObject({ line: 'GAIN', standing: 'proven', step: 2, gain: 0.2 });
    expect(wroteBy(lost, may, lost)).toMatchObject({ standing: 'plausible', step: 2 });
    expect(wroteBy(may, { ...may, gain: 0.05 })).toMatchObject({ standing: 'plausible', step: 2, gain: 0.05 });
    expect(wroteBy(proven, may, proven)).toMatchObject({ standing: 'proven', step: 3 });
    const rejected = { ...first, step: 2, action: 'reject' as const, editEffects: [proven, proven] };
    const history = [{ ...first, editEffects: [may, lost] }, rejected];
    expect(lineSupport({ ...state, history })[0], 'a rejected step wrote nothing').toMatchObject({ step: 1 });
  });

  it('has the standing of the edit that changed it, and not of one that repeats it', async () => {
    const state = await run(({ step }) => (step === 1 ? appends('GAIN') : appends()), { numEpochs: 2 });
    const [first] = state.history as [RunState['history'][number]];
    const edit = { op: 'replace' as const, target: 'GAIN', content: 'GAIN\nBe kind to all.' };
    const later = { ...first, step: 2, edits: [edit], editStatuses: ['applied_replace' as const], editEffects: [null] };
    const best = { ...state.best, skill: '# Skill\n\nGAIN\nBe kind to all.\n' };
    expect(standings({ ...state, best, history: [first, later] })).toEqual([
      ['GAIN', 'plausible', 1],
      ['Be kind to all.', 'plausible', 2],
    ]);
  });
});

it('what nothing speaks for is left out on trial, and neither what two analysts asked for nor a measured gain', async () => {
  const asked = eachAsks(['Be kind to all.', 'GAIN now.'], ['GAIN now.', 'Be quick at all.']);
  const { store } = await scriptedRun({
    solves,
    sizes: { train: 10, val: 20, test: 0 },
    script: { analyst: (call) => (call.step === 1 ? asked() : appends()) },
    config: { gate: 'paired', numEpochs: 1, batchSize: 10, evalTest: false, tryRemovals: false, dropRepeats: false },
  });
  const [first] = store.events.filter((event) => event.type === 'shorten-end');
  expect(first!.removed).toEqual(['Be quick at all.']); // three analysts read the batch: two of them asked for each of the others
  const alone = await run(() => appends('GAIN'), { gate: 'paired' });
  expect(alone.shortening).toBeUndefined();
});

describe('reports', () => {
  const options = { run: 'r', path: 'r', bestSkillPath: 'b', width: 100, colors: noColors };

  it('count the standings, and in full name each line', async () => {
    const state = await run(eachAsks(['GAIN now.', 'Be kind to all.'], ['GAIN now.']));
    expect(standingWords(lineSupport(state))).toBe('0 proven, 1 plausible, 1 unsupported');
    expect(reportLines(state, options)).toContain('lines added: 0 proven, 1 plausible, 1 unsupported');
    expect(reportLines(state, options).join('\n')).not.toContain('asked for it');
    const full = reportLines(state, { ...options, isComplete: true }).join('\n');
    expect(full).toMatch(/^GAIN now\. +plausible +2 analysts asked for it +1$/m);
    expect(full).toMatch(/^Be kind to all\. +unsupported +measured together with others +1$/m);
    const page = reportView(state, 'runs/r');
    expect(page).toContain('## What speaks for each added line\n\n0 proven, 1 plausible, 1 unsupported.\n');
    expect(page).toContain('- **plausible**, step 1, 2 analysts asked for it: `GAIN now.`');
  });
});
