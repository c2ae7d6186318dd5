import fc from 'fast-check';
import { type Item, memoryRun, type SkillEnv, type SkillOptConfigInput, SkillOptTrainer, toFact } from 'skillopt';
import { scripted } from 'skillopt/testing';
import { describe, expect, it } from 'vitest';
import { PythonRandom, shuffle } from '../../src/core/contracts/index.ts';
import { isAccepted } from '../../src/core/run/index.ts';
import {
  addObservations,
  addOwn,
  believedScore,
  disputedItems,
  type Evidence,
  inherit,
  judgeWave,
  type Knowledge,
  knownOf,
  noEvidence,
  noKnowledge,
  planWaves,
  type RaceSettings,
  raceOrder,
  settingsFor,
  unmetItems,
  weigh,
} from '../../src/public/stats.ts';

/** What a skill scores on each item, always. */
type Skill = ReadonlyMap<string, number>;
type Kind = 'binary' | 'graded';

const idsOf = (n: number) => Array.from({ length: n }, (_, i) => `item${i}`);
const observe = (skill: Skill, ids: readonly string[]) => ids.map((id) => ({ id, score: skill.get(id)! }));

/** A score by the dice; grades come in a few steps and in any. */
function scoreBy(dice: PythonRandom, kind: Kind): number {
  if (kind === 'binary') return dice.random() < 0.6 ? 1 : 0;
  return dice.random() < 0.5 ? Math.round(10 * dice.random()) / 10 : dice.random();
}

/** Another skill that differs from one on some of the items. */
function changed(skill: Skill, share: number, kind: Kind, dice: PythonRandom): Skill {
  return new Map([...skill].map(([id, score]) => [id, dice.random() < share ? scoreBy(dice, kind) : score]));
}

type Race = { readonly verdict: string; readonly knowledge: Knowledge; readonly observed: Evidence };

/** The race of `pairedRule`, with skills that score the same whenever they are asked. */
function race(candidate: Skill, current: Skill, before: Knowledge, seed: number): Race {
  const ids = [...current.keys()];
  const settings = settingsFor(before, ids, 40);
  const order = raceOrder(shuffle(ids, seed), (id) => {
    const { sum, count } = knownOf(before, id);
    return count === 0 ? 0.5 : sum / count;
  });
  let [knowledge, observed, met] = [before, noEvidence, 0];
  const judge = (by: RaceSettings, isSecondPass = false) =>
    judgeWave({ knowledge, observed, remaining: order.slice(met), settings: by, isSecondPass }).verdict;
  const settle = (verdict: string) => {
    if (verdict === 'accept') knowledge = addOwn(knowledge, observe(current, disputedItems(knowledge, observed)));
  };
  for (const end of planWaves(order.length, settings)) {
    const wave = order.slice(met, end);
    knowledge = addOwn(knowledge, observe(current, unmetItems(knowledge, wave)));
    observed = addObservations(observed, observe(candidate, wave));
    met = end;
    settle(judge(settings));
    const verdict = judge(settings);
    if (verdict !== 'continue') return { verdict, knowledge, observed };
  }
  observed = addObservations(observed, observe(candidate, order));
  const last = { ...settings, hasSecondPass: false };
  settle(judge(last, true));
  return { verdict: judge(last, true), knowledge, observed };
}

/** What may happen to a skill before the candidate comes that changes nothing. */
const happening = fc.record({
  what: fc.constantFrom('asked again', 'replaced', 'replaced unseen', 'raced'),
  share: fc.double({ min: 0, max: 1, noNaN: true }),
  seed: fc.nat(1_000_000),
});
const past = fc.record({
  n: fc.oneof(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 200 })),
  kind: fc.constantFrom<Kind>('binary', 'graded'),
  passes: fc.integer({ min: 1, max: 2 }),
  seed: fc.nat(1_000_000),
  happenings: fc.array(happening, { maxLength: 8 }),
});

/** The current skill after all that, and what is known of it. */
function live({ n, kind, passes, seed, happenings }: typeof past extends fc.Arbitrary<infer Past> ? Past : never) {
  const dice = new PythonRandom(seed);
  const ids = idsOf(n);
  let skill: Skill = new Map(ids.map((id) => [id, scoreBy(dice, kind)]));
  let knowledge = noKnowledge;
  for (let pass = 0; pass < passes; pass++) knowledge = addOwn(knowledge, observe(skill, ids));
  const steps: { readonly before: Knowledge; readonly after: Knowledge; readonly observed: Evidence }[] = [];
  const take = (next: Skill, observed: Evidence) => {
    const after = inherit({ knowledge, observed, ids });
    steps.push({ before: knowledge, after, observed });
    [skill, knowledge] = [next, after];
  };
  for (const { what, share, seed: own } of happenings) {
    const roll = new PythonRandom(own);
    const some = shuffle(ids, own).slice(0, Math.max(1, Math.round(share * n)));
    const next = changed(skill, roll.random() ** 2, kind, roll);
    if (what === 'asked again') knowledge = addOwn(knowledge, observe(skill, some));
    if (what === 'replaced') take(next, addObservations(noEvidence, observe(next, some)));
    if (what === 'replaced unseen') take(next, noEvidence);
    if (what !== 'raced') continue;
    const { verdict, knowledge: asked, observed } = race(next, skill, knowledge, own);
    knowledge = asked;
    if (verdict === 'accept') take(next, observed);
  }
  return { skill, knowledge, ids, steps };
}

describe('where nothing varies, the gate', () => {
  it('never takes a candidate that scores what the current skill scores, whatever came before', () => {
    fc.assert(
      fc.property(past, fc.array(fc.nat(1000), { minLength: 1, maxLength: 4 }), (history, seeds) => {
        let { skill, knowledge } = live(history);
        for (const seed of seeds) {
          const raced = race(new Map(skill), skill, knowledge, seed);
          expect(raced.verdict).not.toBe('accept');
          knowledge = raced.knowledge; // what a race has asked of the current skill stays known
        }
      }),
      { numRuns: 80 },
    );
  });

  it('takes no worse candidate either: whoever wins is ahead on what both were rolled out on', () => {
    fc.assert(
      fc.property(past, fc.nat(1000), fc.double({ min: 0, max: 1, noNaN: true }), (history, seed, share) => {
        const { skill, knowledge } = live(history);
        const dice = new PythonRandom(seed);
        const worse = new Map(
          [...skill].map(([id, score]) => [id, dice.random() < share ? score * dice.random() : score]),
        );
        expect(race(worse, skill, knowledge, seed).verdict).not.toBe('accept');
      }),
      { numRuns: 50 },
    );
  });

  it('does not stop at noise that was there before: equal scores win nothing after noisy rollouts', () => {
    fc.assert(
      fc.property(past, fc.nat(1000), (history, seed) => {
        const { skill, knowledge } = live({ ...history, kind: 'binary' });
        const dice = new PythonRandom(seed);
        const repeats = {
          squares: knowledge.repeats.squares + 20 * dice.random(),
          freedom: knowledge.repeats.freedom + 80,
        };
        expect(race(new Map(skill), skill, { ...knowledge, repeats }, seed).verdict).not.toBe('accept');
      }),
      { numRuns: 40 },
    );
  });
});

const anyScore = fc.oneof(fc.constantFrom(0, 1), fc.double({ min: 0, max: 1, noNaN: true }));
const scores = (score: fc.Arbitrary<number>) =>
  fc.uniqueArray(
    fc.record({ id: fc.integer({ min: 0, max: 30 }), list: fc.array(score, { minLength: 1, maxLength: 3 }) }),
    {
      selector: ({ id }) => id,
      maxLength: 25,
    },
  );
const evidence = fc.oneof(scores(fc.constantFrom(0, 1)), scores(anyScore)).map((rows) =>
  addObservations(
    noEvidence,
    rows.flatMap(({ id, list }) => list.map((score) => ({ id: `item${id}`, score }))),
  ),
);

describe('the judgement', () => {
  it('is a function of its input, in whatever order that stands', () => {
    fc.assert(
      fc.property(past, evidence, fc.boolean(), (history, observed, isSecondPass) => {
        const { knowledge, ids } = live({ ...history, n: 31 });
        const remaining = ids.filter((id) => !observed.has(id));
        const turn = <Entry>(entries: ReadonlyMap<string, Entry>) => new Map([...entries].reverse());
        const input = { knowledge, observed, remaining, isSecondPass };
        const turned = {
          knowledge: { ...knowledge, own: turn(knowledge.own), inherited: turn(knowledge.inherited) },
          observed: turn(observed),
          remaining: [...remaining].reverse(),
          isSecondPass,
        };
        const [one, same, other] = [judgeWave(input), judgeWave(input), judgeWave(turned)];
        expect(same).toEqual(one);
        expect(other.verdict).toBe(one.verdict);
        for (const figure of ['expectedGain', 'chance', 'meanGain'] as const) {
          expect(other[figure]).toBeCloseTo(one[figure], 9);
        }
        expect([...other.gains.items].sort()).toEqual([...one.gains.items].sort());
        expect([...other.regressions.items].sort()).toEqual([...one.regressions.items].sort());
      }),
    );
  });

  it('believes scores from 0 to 1, of candidates and of what was taken', () => {
    fc.assert(
      fc.property(past, evidence, (history, observed) => {
        const { knowledge, ids, steps } = live({ ...history, n: 31 });
        const { believed, untouched, chance } = weigh({ knowledge, observed, ids });
        const within = [...believed, ...untouched, chance];
        for (const { after } of steps) {
          within.push(believedScore(after, ids));
          for (const { sum, count } of after.inherited.values()) within.push(sum / count);
        }
        expect(within.filter((score) => !(score >= -1e-9 && score <= 1 + 1e-9))).toEqual([]);
      }),
    );
  });

  it('leaves the rollouts of what was taken as they are', () => {
    fc.assert(
      fc.property(past, (history) => {
        for (const { after, before, observed } of live(history).steps) {
          expect([...after.own]).toEqual([...observed]);
          expect(after.repeats.freedom).toBeGreaterThanOrEqual(before.repeats.freedom);
        }
      }),
    );
  });
});

/** What an optimizer has to say that changes nothing: one sentence over and over, in whatever dress, and others like it. */
const IDLE: readonly ((step: number) => Record<string, string>)[] = [
  () => ({ op: 'append', content: 'Take your time.' }),
  () => ({ op: 'append', content: '- Take your time' }),
  () => ({ op: 'append', content: '  * TAKE YOUR  TIME!' }),
  () => ({ op: 'append', content: '3. take your time.' }),
  () => ({ op: 'insert_after', target: '# Skill', content: 'take your time' }),
  () => ({ op: 'replace', target: 'Be brief.', content: 'Take your time.' }),
  (step) => ({ op: 'append', content: `Remark ${step}.` }),
  (step) => ({ op: 'insert_after', target: 'Be brief.', content: `- Aside ${step}` }),
  (step) => ({ op: 'replace', target: 'Take your time.', content: `Take your time, ${step} times.` }),
  () => ({ op: 'append', content: 'Be brief.' }),
];

const idleRun = fc.record({
  kind: fc.constantFrom<Kind>('binary', 'graded'),
  val: fc.integer({ min: 3, max: 24 }),
  /** How many tasks the skill solves at first, in tenths of all, and with the token that helps. */
  start: fc.integer({ min: 0, max: 5 }),
  picks: fc.array(fc.array(fc.nat(IDLE.length - 1), { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 5 }),
  salvage: fc.boolean(),
  prune: fc.boolean(),
  useSlowUpdate: fc.boolean(),
  seed: fc.nat(1000),
});

type IdleRun = typeof idleRun extends fc.Arbitrary<infer Run> ? Run : never;

const INITIAL = '# Skill\n\nBe brief.\n';
const TOKEN = 'Use the TOKEN.';

function idleEnv({ kind, val, start }: IdleRun): SkillEnv<Item & { readonly k: number }> {
  const tasks = (split: string, count: number) => Array.from({ length: count }, (_, k) => ({ id: `${split}-${k}`, k }));
  return {
    name: 'idle',
    getItems: (split) => tasks(split, { train: 12, val, test: 0 }[split] ?? 0),
    getInitialSkill: () => INITIAL,
    async rolloutOne({ item: { id, k }, skill }) {
      const share = start / 10 + (skill.includes('TOKEN') ? 0.4 : 0);
      const isSolved = (k + 0.5) / (id.startsWith('val') ? val : 12) < share;
      const hard = kind === 'binary' ? Number(isSolved) : isSolved ? 0.6 + (k % 5) / 20 : 0.1 + (k % 7) / 30;
      return {
        hard,
        soft: hard,
        conversation: [{ role: 'user', content: id }],
        ...(isSolved ? {} : { failReason: 'wrong' }),
      };
    },
  };
}

async function trainIdly(options: IdleRun, config: SkillOptConfigInput = {}) {
  const { picks, salvage, prune, useSlowUpdate, seed } = options;
  let asked = 0;
  const optimizer = scripted('optimizer', ({ stage, messages: [, user] }) => {
    if (stage === 'ranking') return JSON.stringify({ selected_indices: [0, 1, 2, 3, 4, 5, 6] });
    if (stage === 'slow_update')
      return JSON.stringify({ slow_update_content: `Keep going. Take your time. (${asked})` });
    if (stage === 'meta_skill') return JSON.stringify({ meta_skill_content: '' });
    asked++;
    const edits: Record<string, string>[] = picks[asked % picks.length]!.map((pick) => IDLE[pick]!(asked));
    const isThere = user!.content.includes(TOKEN);
    return JSON.stringify({
      patch: { reasoning: '', edits: isThere ? edits : [{ op: 'append', content: TOKEN }, ...edits] },
    });
  });
  const store = memoryRun();
  const trainer = new SkillOptTrainer({
    env: idleEnv(options),
    target: scripted('target', () => ''),
    optimizer,
    config: {
      numEpochs: 3,
      batchSize: 6,
      minibatchSize: 6,
      mergeBatchSize: 8,
      maxRetries: 0,
      leakCritic: false,
      evalTest: false,
      salvage,
      prune,
      useSlowUpdate,
      slowUpdateSamples: 4,
      seed,
      ...config,
    },
    store,
  });
  const summary = await trainer.train();
  return { summary, facts: store.events.map(toFact) };
}

/** Whether something was taken, in the order of the run. */
const taken = (facts: Awaited<ReturnType<typeof trainIdly>>['facts']) =>
  facts.flatMap((fact) => {
    if (fact.type === 'step-end' || fact.type === 'slow-update-end' || fact.type === 'removal-end') {
      return isAccepted(fact.action) ? [fact] : [];
    }
    return [];
  });

describe('a run whose optimizer has nothing more to say', () => {
  it('takes nothing once its score stands still, and says nothing twice', async () => {
    await fc.assert(
      fc.asyncProperty(idleRun, async (options) => {
        const { summary, facts } = await trainIdly(options);
        const accepted = taken(facts);
        expect(accepted.length, 'only what brought the token').toBeLessThanOrEqual(1);
        if (accepted.length === 1) expect(summary.bestSkill).toContain('TOKEN');
        const lines = summary.bestSkill.split('\n').filter((line) => line.trim() !== '');
        const plain = lines.map((line) =>
          line
            .replace(/^[\s*\d.-]+/, '')
            .replace(/[.!]+$/, '')
            .toLowerCase(),
        );
        expect(new Set(plain).size, summary.bestSkill).toBe(plain.length);
      }),
      { numRuns: 8 },
    );
  });
});
