import { memoryRun, type RunEvent, type SkillOptConfigInput, skillHash } from 'skillopt';
import { expect } from 'vitest';
import { type Call, type Script, scriptedRun, type Task } from '../../../support/scripted-run.ts';
import { EPOCH_ENDS } from '../../../support/strict-gate.ts';

export type Mode = NonNullable<SkillOptConfigInput['skillUpdateMode']>;

/** Everything that a run can do, at once. */
export const EVERYTHING: SkillOptConfigInput = {
  ...EPOCH_ENDS,
  numEpochs: 3,
  batchSize: 3,
  accumulation: 2,
  minibatchSize: 2,
  mergeBatchSize: 2,
  lrControlMode: 'autonomous',
  useSkillAwareReflection: true,
  skillAwareConsolidateThreshold: 2,
  slowUpdateSamples: 4,
  longitudinalPairPolicy: 'changed',
  salvage: true,
  salvageRollouts: 60,
  prune: true,
};

/** Task k needs GOODk; BAD spoils everything. */
export const solves = (skill: string, { k }: Task) => skill.includes(`GOOD${k}`) && !skill.includes('BAD');

/** A number that the request alone decides, so that a resumed run hears what the first one heard. */
export const dice = ({ user, prompt }: Call, sides: number) =>
  Number.parseInt(skillHash(prompt + user).slice(0, 8), 16) % sides;

const lines = (call: Call) => [`GOOD${dice(call, 10)}`, dice(call, 4) === 0 ? 'BAD' : `idle ${dice(call, 50)}`];

const PROPOSALS: Readonly<Record<Mode, (call: Call) => object>> = {
  patch: (call) => ({ edits: lines(call).map((content) => ({ op: 'append', content })) }),
  rewrite_from_suggestions: (call) => ({
    revise_suggestions: lines(call).map((instruction) => ({ type: 'add', title: 'line', instruction })),
  }),
  full_rewrite_minibatch: (call) => ({ skill_candidates: [{ new_skill: grow(call, lines(call)) }] }),
};

/** The skill that a question shows, without its blocks and with more lines. */
function grow({ user }: Call, more: readonly string[]): string {
  const [, , skill = ''] = /<skill-(\w+)>\n(.*?)\n<\/skill-\1>/s.exec(user) ?? [];
  return [skill.split('<!--')[0]!.trim(), ...more].join('\n\n');
}

export const script = (mode: Mode): Script => ({
  analyst: (call) => ({ patch: PROPOSALS[mode](call), appendix_notes: [`look at ${dice(call, 5)}`] }),
  ranking: (call) => ({ selected_indices: [dice(call, 2), 1 - dice(call, 2), 2, 3] }),
  lr_autonomous: (call) => ({ learning_rate: 1 + dice(call, 4) }),
  rewrite: (call) => ({ new_skill: grow(call, call.user.match(/GOOD\d|BAD|idle \d+/g) ?? []) }),
  slow_update: (call) => ({ slow_update_content: `GOOD${dice(call, 10)} and GOOD${dice(call, 9)}` }),
  meta_skill: (call) => ({ meta_skill_content: dice(call, 2) === 0 ? '' : `notes ${dice(call, 99)}` }),
  appendix_consolidate: (call) => ({ notes: [`look at ${dice(call, 5)} above all`] }),
});

export const run = (mode: Mode, workers: number, store = memoryRun()) =>
  scriptedRun({
    solves,
    store,
    initialSkill: '---\nname: x\ndescription: y\n---\n\n# Skill\n\nGOOD0\n',
    script: script(mode),
    config: { ...EVERYTHING, skillUpdateMode: mode, workers },
  });

/** Cuts a run off at every so many events: the rest is remembered, so that nothing is asked again. */
export async function expectSameEnd(mode: Mode, workers: number, every: number): Promise<void> {
  const whole = await run(mode, workers);
  for (let cut = 0; cut <= whole.facts.length; cut += every) {
    (whole.store.events as RunEvent[]).length = cut;
    const { facts, requests } = await run(mode, workers, whole.store);
    expect(facts, `cut after ${cut} events`).toEqual(whole.facts);
    expect([...requests.target, ...requests.optimizer], `cut after ${cut} events`).toEqual([]);
  }
}

/** The same without caches: all is asked again, and answered as before. */
export async function expectSameEndAskedAgain(mode: Mode, every: number): Promise<void> {
  const whole = await run(mode, 1);
  for (let cut = 4; cut <= whole.facts.length; cut += every) {
    const { facts, summary } = await run(mode, 4, memoryRun(whole.store.events.slice(0, cut)));
    expect(facts.slice(1), `cut after ${cut} events`).toEqual(whole.facts.slice(1));
    expect(summary.bestSkill).toBe(whole.summary.bestSkill);
  }
}
