import type { RolloutContext, RolloutOutput, SkillEnv } from '../../core/contracts/index.ts';
import { type Edit, newLinesOf, type RawPatch, writeBlock } from '../../core/document/index.ts';
import { findPoison, quarantine } from '../../core/guard/index.ts';
import type { TaskScorer } from '../../core/judge/index.ts';
import { memoize, skillHash, strip } from '../../core/text/index.ts';
import { type AttemptMetric, firstDrawOf, reflectOnContrast } from '../dream/contrast.ts';
import { type SleepSplit, type TaskRecord, type Tasks, taughtBy } from '../task-record.ts';
import {
  ATTEMPT_VERSION,
  type Documents,
  type ReplayResult,
  replayOne,
  scorersOf,
  taskJudgeOf,
  taskText,
} from './replay.ts';
import { attemptAtWork, type NightWork, WORK_VERSION } from './work.ts';

export type Trained = keyof Documents;

export type SleepEnvOptions = {
  readonly name: string;
  readonly tasks: Tasks;
  /** The documents as they are. The run changes the learned block of the trained one. */
  readonly documents: Documents;
  readonly trained: Trained;
  /** Texts of skills by the hint of a task, which is then attempted with that skill in place of the one in `documents`. */
  readonly skillTexts?: ReadonlyMap<string, string> | undefined;
  readonly scorers?: readonly TaskScorer[] | undefined;
  readonly prompt?: string | undefined;
  /** For analysts: preferences, edits that earlier nights rejected. */
  readonly notes?: readonly string[] | undefined;
  readonly quarantine?: Quarantine | undefined;
  /** An agent with tools that does the tasks in copies of the project, in place of the target. */
  readonly work?: NightWork | undefined;
  readonly metric?: AttemptMetric | undefined;
};

export const withLearned = (documents: Documents, trained: Trained, block: string): Documents => ({
  ...documents,
  [trained]: writeBlock(documents[trained], 'learned', block),
});

/** The documents that an agent reads for a task, with this text in the learned block of the trained one. */
export function readFor(
  task: TaskRecord,
  block: string,
  { documents, trained, skillTexts }: Pick<SleepEnvOptions, 'documents' | 'trained' | 'skillTexts'>,
): Documents {
  const skill = skillTexts?.get(task.skillHint.trim()) ?? documents.skill;
  return withLearned({ ...documents, skill }, trained, block);
}

/** Tasks of sessions as an environment. It trains the text of a learned block, which the agent reads inside its document. */
export function sleepEnv(options: SleepEnvOptions): SkillEnv<TaskRecord> {
  const { name, tasks, documents, trained, scorers, prompt, notes = [], quarantine, work } = options;
  const split = (wanted: string) => tasks.filter((task) => task.split === (wanted as SleepSplit));
  const known = scorersOf(scorers);
  const around = writeBlock(documents[trained], 'learned', '').trim(); // what it says need not be learned again
  const aroundText = around === '' ? [] : [`The skill is a part of this document, which says besides:\n\n${around}`];
  const surroundings = [...aroundText, ...notes].join('\n\n');
  return {
    name,
    version: versionOf(options),
    judgeCalls: judgeCallsOf(tasks, known),
    surroundings,
    ...(quarantine ? { refuseText: quarantine.refuseText } : {}),
    getItems: split,
    async setup() {
      const kinds = new Set(tasks.map((task) => taskJudgeOf(task).kind));
      for (const kind of kinds) await known.get(kind)?.ready?.();
    },
    async rolloutOne(context: RolloutContext<TaskRecord>): Promise<RolloutOutput> {
      const { item, skill, target, judge, signal } = context;
      const read = readFor(item, skill, options);
      if (work) return attemptAtWork(context, { work, read, scorers, hasLearned: trained === 'skill' && skill !== '' });
      const sampleIndex = firstDrawOf(item.id);
      const result = await replayOne({ target, judge }, item, read, { sampleIndex, scorers, prompt, signal });
      return toOutput(item, result);
    },
    async reflect(context) {
      const reflected = await reflectOnContrast(context, tasks, surroundings, options.metric);
      const patches = withoutSaid(reflected, otherTexts(options));
      return quarantine ? quarantine.take(patches, context.skill) : patches;
    },
  };
}

const otherTexts = ({ documents, trained, skillTexts = new Map() }: SleepEnvOptions): string =>
  trained === 'skill' ? documents.memory : [documents.skill, ...skillTexts.values()].join('\n');

/** Without additions that another document makes already: said twice, a rule would ride along with what helps. */
const withoutSaid = (patches: readonly RawPatch[], said: string): RawPatch[] =>
  patches.map((raw) => {
    const isNew = ({ op, content = '' }: RawPatch['patch']['edits'][number]) =>
      op === 'delete' || op === 'replace' || strip(newLinesOf(said, content)) !== '';
    return { ...raw, patch: { ...raw.patch, edits: raw.patch.edits.filter(isNew) } };
  });

/** Everything but the tasks and the trained text that a score depends on. */
function versionOf(options: SleepEnvOptions): string {
  const { documents, trained, prompt = '', scorers, skillTexts = new Map(), work } = options;
  const other = trained === 'skill' ? documents.memory : documents.skill;
  const around = writeBlock(documents[trained], 'learned', '');
  const versions = [...scorersOf(scorers).values()].map(({ kind, version }) => `${kind} ${version}`).sort();
  const attempt = work ? `work ${WORK_VERSION} in ${work.sandbox.id}, from ${work.key}` : `attempt ${ATTEMPT_VERSION}`;
  return `${attempt}, ${trained} in ${skillHash([around, other, prompt, ...[...skillTexts].flat()].join('\0'))}, ${versions.join(', ')}`;
}

function judgeCallsOf(tasks: Tasks, known: ReturnType<typeof scorersOf>): number {
  const calls = tasks.map((task) => {
    const judge = taskJudgeOf(task);
    return known.get(judge.kind)?.judgeCalls?.(judge) ?? 0;
  });
  return calls.reduce((sum, count) => sum + count, 0) / Math.max(1, calls.length);
}

function toOutput(task: TaskRecord, result: ReplayResult): RolloutOutput {
  const { hard, soft, errored, response, failReason, taskType } = result;
  return {
    ...{ hard, soft },
    ...(errored ? { errored, unjudged: true } : {}),
    ...{ nTurns: 1, question: taskText(task), predictedAnswer: response },
    ...notEmpty({ failReason, taskType, referenceText: taughtBy(task) }),
    conversation: [
      { role: 'user', content: taskText(task) },
      { role: 'assistant', content: response },
    ],
  };
}

const notEmpty = <Texts extends Readonly<Record<string, string>>>(texts: Texts) =>
  Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== '')) as Partial<Texts>;

export type QuarantinedText = { readonly content: string; readonly reason: string };

/** Keeps poison out of documents, and lists it with the reason. */
export type Quarantine = {
  take(patches: readonly RawPatch[], skill: string): RawPatch[];
  refuseText(text: string): string | undefined;
  list(): QuarantinedText[];
};

const KEPT = { maxEntries: 1_000 };

export function quarantining(): Quarantine {
  const found = new Map<string, QuarantinedText>();
  const note = (content: string, reason: string) => found.set(content, { content, reason });
  // Several analysts often propose the same, and what was merged comes by again.
  const read = memoize((key: string) => quarantine(...(JSON.parse(key) as [Edit[], string])), KEPT);
  const readText = memoize((text: string) => findPoison(text), KEPT);
  return {
    take: (patches, skill) =>
      patches.map((raw) => {
        const { kept, quarantined } = read(JSON.stringify([raw.patch.edits, skill]));
        for (const { edit, reason } of quarantined) note(edit.content, reason);
        return { ...raw, patch: { ...raw.patch, edits: kept } };
      }),
    refuseText(text) {
      const poison = readText(text);
      if (poison) note(text, poison.reason);
      return poison && `quarantined: ${poison.reason}`;
    },
    list: () => [...found.values()],
  };
}
