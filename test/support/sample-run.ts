import { type Evaluation, parseConfig } from '../../src/core/contracts/index.ts';
import { applyPatchWithReport, type Edit } from '../../src/core/document/index.ts';
import { noStageUsage, type RunEvent, type RunFact, type StepAction } from '../../src/core/run/index.ts';
import { skillHash } from '../../src/core/text/index.ts';
import { STRICT } from './strict-gate.ts';

const usage = { ...noStageUsage, replies: 10, cacheHits: 2, retries: 1, input: 1500, output: 120 };

/** `passed` of `n` tasks right, half of them of type `dates`, half of type `money`. */
function evaluation(passed: number, n = 8): Evaluation {
  const scores = Array.from({ length: n }, (_, index) => ({
    id: `t${index}`,
    hard: Number(index < passed),
    soft: Number(index < passed),
    taskType: index % 2 === 0 ? 'dates' : 'money',
  }));
  return { hard: passed / n, soft: passed / n, scores };
}

const stamp = (fact: RunFact): RunEvent => ({
  ...fact,
  at: '2030-01-01T00:00:00.000Z',
  ms: 1000,
  usage: { rollout: usage },
});

type StepPlan = {
  readonly step: number;
  readonly skill: string;
  readonly edits: readonly Edit[];
  readonly passed: number;
  readonly action: StepAction;
};

function stepFacts({ step, skill, edits, passed, action }: StepPlan): RunFact[] {
  const patch = { edits: [...edits], reasoning: '' };
  const { skill: candidateSkill, report } = applyPatchWithReport(skill, patch);
  const verdict = { evaluation: evaluation(passed), score: passed / 8, action };
  const itemIds = ['a', 'b', 'c', 'd'];
  return [
    { type: 'step-start', step, epoch: 1, stepInEpoch: step, editBudget: 2, seed: step, itemIds },
    { type: 'stage-end', step, stage: 'rollout', evaluation: evaluation(2, 4) },
    { type: 'stage-end', step, stage: 'reflect', patches: [] },
    { type: 'stage-end', step, stage: 'aggregate', patch },
    { type: 'stage-end', step, stage: 'select', patch },
    { type: 'stage-end', step, stage: 'update', candidateSkill, candidateHash: skillHash(candidateSkill), report },
    { type: 'stage-end', step, stage: 'evaluate', ...verdict },
    { type: 'step-end', step, action },
  ];
}

export const INITIAL_SKILL = '# Skill\n\nAnswer briefly.\n';
export const LEARNED = 'Write dates as YYYY-MM-DD.';

const append = (content: string): Edit => ({ op: 'append', content, target: '' });
const missing: Edit = { op: 'replace', content: 'x', target: 'not there' };

/** Three steps of a small run: a new best, a rejection, and one without edits; then the tests. */
export const sampleRun: readonly RunEvent[] = [
  {
    type: 'run-start',
    format: 1,
    identity: {},
    config: parseConfig({ ...STRICT, numEpochs: 1, batchSize: 4 }),
    env: 'sample',
    target: 't',
    optimizer: 'o',
    initialSkill: INITIAL_SKILL,
    totalSteps: 3,
    items: { train: 12, val: 8, test: 8 },
  } as const,
  { type: 'baseline-end', evaluation: evaluation(2), score: 0.25 } as const,
  ...stepFacts({
    step: 1,
    skill: INITIAL_SKILL,
    edits: [append(`- ${LEARNED}`), missing],
    passed: 6,
    action: 'accept_new_best',
  }),
  ...stepFacts({
    step: 2,
    skill: `${INITIAL_SKILL}\n- ${LEARNED}\n`,
    edits: [append('Guess.')],
    passed: 3,
    action: 'reject',
  }),
  ...stepFacts({ step: 3, skill: `${INITIAL_SKILL}\n- ${LEARNED}\n`, edits: [], passed: 6, action: 'skip_no_patches' }),
  { type: 'test-end', subject: 'baseline', evaluation: evaluation(3), taskTypes: [] } as const,
  { type: 'test-end', subject: 'best', evaluation: evaluation(7), taskTypes: [] } as const,
  { type: 'run-end' } as const,
].map(stamp);
