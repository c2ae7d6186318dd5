import type { RunEvent } from '../run/event.ts';
import type { Stage } from '../run/step-action.ts';

/** By hand, where a schema would do: a long journal has millions of scores, and is read whole by every command. */
type Shape = (value: unknown) => boolean;
type Fields = Readonly<Record<string, Shape>>;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const text: Shape = (value) => typeof value === 'string';
const number: Shape = (value) => typeof value === 'number';
const truth: Shape = (value) => typeof value === 'boolean';
const anything: Shape = () => true;
const listOf =
  (shape: Shape): Shape =>
  (value) =>
    Array.isArray(value) && value.every(shape);
const tableOf =
  (shape: Shape): Shape =>
  (value) =>
    isObject(value) && Object.values(value).every(shape);
const maybe =
  (shape: Shape): Shape =>
  (value) =>
    value === undefined || shape(value);
const orNull =
  (shape: Shape): Shape =>
  (value) =>
    value === null || shape(value);

const faultOf = (fields: Fields, value: Readonly<Record<string, unknown>>) =>
  Object.keys(fields).find((name) => !fields[name]!(value[name]));
const having =
  (fields: Fields): Shape =>
  (value) =>
    isObject(value) && faultOf(fields, value) === undefined;

const scores = listOf((value) => {
  const { id, hard, soft } = (value ?? {}) as Readonly<Record<string, unknown>>;
  return typeof id === 'string' && typeof hard === 'number' && typeof soft === 'number';
});
const texts = listOf(text);
const pass = { hard: number, soft: number };
const evaluation = having({ ...pass, scores });
const edits = listOf(having({ op: text, content: text, target: text }));
const patch = having({ edits });
const movement = maybe(having({ items: texts }));
const decision = having({
  verdict: text,
  reason: text,
  total: number,
  refreshed: scores,
  confirmation: maybe(scores),
  veto: maybe(having({ incumbent: scores, candidate: scores })),
  gains: movement,
  regressions: movement,
});
const blame = maybe(having({ threw: number, total: number, reason: text, asked: number }));
const candidate = { candidateSkill: text, candidateHash: text };
const judged = { evaluation: orNull(evaluation), score: number, action: text, decision: maybe(decision), blame };
const estimate = maybe(having({ value: number, interval: having({ low: number, high: number }) }));
const refused = maybe(listOf(having({ reason: text })));
const failurePatterns = maybe(listOf(having({ type: text, count: number, taskIds: texts })));

/** What is always there, and what is of one kind if it is there. A line may hold more. */
const STAGES = {
  rollout: { evaluation },
  reflect: {
    patches: listOf(having({ patch, sourceType: text, failurePatterns })),
    failurePatterns,
  },
  aggregate: { patch },
  select: { patch, refused, repeats: maybe(listOf(anything)) },
  update: { ...candidate, report: listOf(having({ status: text })), changeSummary: maybe(texts), refused },
  evaluate: judged,
} satisfies Record<Stage, Fields>;

const EVENTS = {
  'run-start': {
    identity: tableOf(anything),
    config: tableOf(anything),
    initialSkill: text,
    totalSteps: number,
    items: tableOf(number),
  },
  'baseline-end': { evaluation, score: number, passes: maybe(listOf(evaluation)) },
  'step-start': { step: number, epoch: number, stepInEpoch: number, editBudget: orNull(number), itemIds: texts },
  'stage-end': { step: number, stage: (value) => Object.hasOwn(STAGES, String(value)) },
  'lr-decision': { step: number, learningRate: number },
  'salvage-end': {
    step: number,
    tries: listOf(anything),
    evaluations: tableOf(having(pass)),
    accepted: orNull(having({ ...candidate, ...judged, edits: listOf(number) })),
    asked: maybe(number),
  },
  'removal-end': { step: number, ...candidate, ...judged, of: number, removed: texts },
  'step-end': { step: number, action: text },
  'slow-update-end': { epoch: number, ...candidate, ...judged, content: text, pairs: listOf(anything) },
  'meta-skill-end': { epoch: number, action: text, content: text },
  'epoch-end': { epoch: number },
  'search-end': { reason: text },
  'prune-end': {
    removed: texts,
    skill: text,
    hash: text,
    score: number,
    evaluations: tableOf(having(pass)),
    unscored: maybe(number),
  },
  'final-selection-end': { evaluation: orNull(evaluation), score: number, isPromoted: truth },
  'test-look': { looks: number, tasks: text },
  'test-end': { subject: text, evaluation, taskTypes: texts },
  'finalists-end': { finalists: listOf(having({ hash: text, origin: text, score: number })), hash: text },
  'final-measurement-end': {
    hash: text,
    passes: listOf(evaluation),
    score: estimate,
    gain: estimate,
    isSeedBetter: truth,
    isClaimed: truth,
  },
  'run-end': { memorisedShare: maybe(number) },
} satisfies Record<RunEvent['type'], Fields>;

const STAMP: Fields = {
  at: text,
  ms: number,
  usage: tableOf(isObject),
  counted: maybe(number),
  threw: maybe(number),
  answers: maybe(tableOf(isObject)),
};

/** What keeps a value from being an event that can be folded, as the end of a sentence; nothing when it is one. */
export function findFault(value: unknown): string | undefined {
  if (!isObject(value) || !text(value.type) || !Object.hasOwn(EVENTS, value.type as string)) {
    return 'must be a JSON object with a "type" that this version knows';
  }
  const fields: Fields = { ...EVENTS[value.type as RunEvent['type']], ...STAMP };
  const ofStage: Fields = value.type === 'stage-end' ? (STAGES[value.stage as Stage] ?? {}) : {};
  const fault = faultOf(fields, value) ?? faultOf(ofStage, value);
  return fault && `must be a whole ${value.type}, but its "${fault}" is missing or of another kind`;
}
