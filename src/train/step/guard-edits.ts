import type { Item } from '../../core/contracts/index.ts';
import {
  type EditPolicy,
  isSaidIn,
  newLinesOf,
  type Patch,
  partOf,
  SKILL_FILE,
  splitPackage,
  trainsMore,
  trainsPackage,
  type UpdateItem,
} from '../../core/document/index.ts';
import { findLeaks, type GuardedItem, type LeakCritic } from '../../core/guard/index.ts';
import type { Refusal, RunState } from '../../core/run/index.ts';
import { defined, memoize } from '../../core/text/index.ts';
import { lintSkill, skillHeader } from '../../skills/index.ts';
import type { Run } from '../run.ts';
import type { RunItems } from '../setup/run-items.ts';

type GuardedRun = Pick<Run, 'env' | 'items' | 'config'>;

/** Reads texts that are new to `skill`: refuses what the environment refuses, and what gives tasks away. */
export function leakCriticOf(run: GuardedRun, skill: string): LeakCritic {
  const readForLeaks = criticOf(run, skill);
  return (text) => {
    const refused = run.env.refuseText?.(text);
    if (refused === undefined) return readForLeaks(text);
    return { ...(typeof refused === 'string' ? { reason: refused } : refused), memorisedShare: 0 };
  };
}

/** What the skill says already gives nothing away. Switched off, it finds nothing. */
function criticOf({ items, config, env }: GuardedRun, skill: string): LeakCritic {
  if (!config.leakCritic) return () => ({ reason: undefined, memorisedShare: 0 });
  const limits = defined({ maxMemorisedShare: config.maxMemorisedShare, surroundings: env.surroundings });
  const guarded = guardedItems(items);
  return memoize((text) => findLeaks({ edit: text, items: guarded, contract: [skill], ...limits })); // a patch is often one edit
}

/** How much of the training tasks the best skill repeats that the initial one did not; nothing without the leak critic. */
export function memorisedShareOf({ best, initialSkill }: RunState, run: GuardedRun) {
  if (!run.config.leakCritic) return {};
  return { memorisedShare: leakCriticOf(run, initialSkill)(best.skill).memorisedShare };
}

/** Fields that usually hold what only a judge may know. */
const ANSWER_KEYS =
  /^(gold|golden|truth|correct|answers?|expected|labels?|references?|solutions?|targets?|checks?|outputs?)$/;
/** The same in two words, such as ground_truth, goldAnswer and expected-output, as `plainKey` gives them. */
const LONGER_KEYS =
  /^(gold|golden|ground|correct|right|true|expected|reference|target|ideal|final|accepted)(truths?|answers?|outputs?|labels?|solutions?|results?|responses?|values?|texts?|choices?|options?)$/;

const guarded = new WeakMap<RunItems, readonly GuardedItem[]>();

/** Every task of a run as the leak critic reads it; the same objects each time, since it remembers them. */
export function guardedItems(items: RunItems): readonly GuardedItem[] {
  const known = guarded.get(items) ?? guardAll(items);
  guarded.set(items, known);
  return known;
}

function guardAll({ train, val, test, spare = [] }: RunItems): GuardedItem[] {
  const guard = (items: readonly Item[], split: GuardedItem['split']) =>
    items.map(({ id, ...rest }) => ({ id, split, ...sortTexts(rest) }));
  return [...guard(train, 'train'), ...guard([...val, ...spare], 'val'), ...guard(test, 'test')];
}

const plainKey = (key: string) => key.toLowerCase().replace(/[\s_-]/g, '');
const isAnswerKey = (key: string) => ANSWER_KEYS.test(plainKey(key)) || LONGER_KEYS.test(plainKey(key));

function sortTexts(fields: object): Pick<GuardedItem, 'texts' | 'answers' | 'demanded'> {
  const found = stringsIn(fields, 'text');
  const under = (...roles: Role[]) => found.filter(({ role }) => roles.includes(role)).map(({ text }) => text);
  return { texts: under('text'), answers: under('answer', 'demand'), demanded: under('demand') };
}

type Role = 'text' | 'answer' | 'demand';
type FoundText = { readonly text: string; readonly role: Role };

/** Everything below a field of answers is an answer. Numbers are read only there: elsewhere they count and measure. */
function stringsIn(value: unknown, role: Role): FoundText[] {
  if (typeof value === 'string') return [{ text: value, role }];
  if (typeof value === 'number' && role !== 'text') return [{ text: String(value), role }];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => stringsIn(inner, role === 'text' ? roleOf(key, value) : role));
}

/** A check demands something of any answer, and so does a reference of a night that is a rubric or what a person said. */
function roleOf(key: string, fields: object): Role {
  if (!isAnswerKey(key)) return 'text';
  const isRubric = 'referenceKind' in fields && fields.referenceKind !== 'exact' && key === 'reference';
  return isRubric || /^checks?$/.test(plainKey(key)) ? 'demand' : 'answer';
}

/** The patch without edits that give tasks away, and how much of the training tasks the rest repeats. */
export function refuseLeaks(patch: Patch, readForLeaks: LeakCritic) {
  const refused: Refusal[] = [];
  const edits = patch.edits.filter(({ op, target, content }) => {
    const { reason, kind } = readForLeaks(content);
    if (reason !== undefined) refused.push({ op, target, content, reason, ...defined({ kind }) });
    return reason === undefined;
  });
  const { memorisedShare } = readForLeaks(edits.map(({ content }) => content).join('\n\n'));
  return {
    patch: { ...patch, edits },
    ...(refused.length > 0 ? { refused } : {}),
    ...(memorisedShare > 0 ? { memorisedShare } : {}),
  };
}

/** The patch without what its file, or an earlier edit of it, says already. */
export function withoutRepeats(patch: Patch, skill: string, policy?: EditPolicy) {
  const repeats: Pick<UpdateItem, 'op' | 'target' | 'content'>[] = [];
  const files = policy?.isPackage ? splitPackage(skill) : { [SKILL_FILE]: skill };
  const said = new Map(Object.entries(files));
  const edits = patch.edits.flatMap((edit) => {
    const { op, target, content, file = SKILL_FILE } = edit;
    const isProse = op === 'append' || op === 'insert_after' || op === 'replace';
    if (!isProse || partOf(file) === 'scripts') return [edit]; // code may well repeat itself
    const whole = said.get(file) ?? '';
    const rest = op === 'replace' && target !== '' ? whole.replace(target, () => '') : whole;
    if (isSaidIn(rest, content)) {
      repeats.push({ op, target, content });
      return [];
    }
    const news = op === 'replace' ? content : newLinesOf(rest, content);
    said.set(file, `${whole}\n\n${news}`);
    return [{ ...edit, content: news }];
  });
  return { patch: { ...patch, edits }, ...(repeats.length > 0 ? { repeats } : {}) };
}

const MOST_FILE_BYTES = 256_000;
const MOST_BYTES = 2_000_000;

type CheckContext = Pick<Run, 'config' | 'env'>;

/** Says why no agent could use a candidate. Faults that its parent has too do not count. */
export function unusableBeside(parent: string, { config, env }: CheckContext) {
  return async (candidate: string): Promise<string | undefined> => {
    if (candidate === parent) return undefined;
    const known = new Set(faultsOf(parent, config));
    const [fault] = faultsOf(candidate, config).filter((one) => !known.has(one));
    return fault ?? (await env.checkSkill?.(candidate, parent));
  };
}

/** Training one body cannot cause these faults. */
function faultsOf(skill: string, config: CheckContext['config']): string[] {
  if (!trainsMore(config)) return [];
  const files = trainsPackage(config) ? splitPackage(skill) : { [SKILL_FILE]: skill };
  return [...sizeFaults(files), ...headerFaults(files[SKILL_FILE] ?? '')];
}

function sizeFaults(files: Readonly<Record<string, string>>): string[] {
  const sizes = Object.entries(files).map(([path, text]) => [path, Buffer.byteLength(text)] as const);
  const whole = sizes.reduce((sum, [, size]) => sum + size, 0);
  const tooLong = sizes.filter(([, size]) => size > MOST_FILE_BYTES);
  return [
    ...tooLong.map(([path]) => `${path} is longer than ${MOST_FILE_BYTES / 1000} kB`),
    ...(whole > MOST_BYTES ? [`the package is longer than ${MOST_BYTES / 1e6} MB`] : []),
  ];
}

function headerFaults(text: string): string[] {
  const errors = lintSkill({ folderName: undefined, text }).filter(({ level }) => level === 'error');
  const { description = '' } = skillHeader(text);
  return [
    ...errors.map(({ message }) => `${SKILL_FILE}: ${message}`),
    ...(/[<>]/.test(description) ? [`${SKILL_FILE}: description: expected neither < nor >`] : []),
  ];
}
