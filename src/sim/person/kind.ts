import { normalCdf, normalQuantile } from '../../core/stats/index.ts';
import { type Draw, pick } from '../draw.ts';

/** What the person wants of every answer of a kind, and no request says. */
export type Thing = {
  readonly name: string;
  /** Sentences that state it; the first is the plainest. */
  readonly rules: readonly [string, string, string];
  /** What a sentence must contain to state it. Wider than `rules`, so that paraphrases count. */
  readonly cue: RegExp;
  /** In an answer that does it, and in one that does not. */
  readonly kept: string;
  readonly missed: string;
  /** In a rubric, and as a judge says that it is missing. */
  readonly wish: string;
  readonly lack: string;
  readonly complaint: string;
};

/** What the person asks for again and again, each time about something else. */
export type Kind = {
  readonly name: string;
  /** The beginning of a request, and of no other text. */
  readonly heads: readonly string[];
  readonly objects: readonly string[];
  readonly things: readonly Thing[];
};

/** With the object, it makes two requests of a kind differ. */
export const OCCASIONS: readonly string[] = [
  'for the morning report',
  'before the review on Friday',
  'so that Mira can check it',
  'as the customer asked yesterday',
  'to go with the release',
  'for our new colleague',
  'because the audit wants one',
  'ahead of the maintenance window',
  'since the old one is outdated',
  'while the line stands still',
];

export function kindIn(text: string, kinds: readonly Kind[]): Kind | undefined {
  let [last, lastAt]: [Kind | undefined, number] = [undefined, -1];
  for (const kind of kinds) {
    const at = Math.max(...kind.heads.map((head) => text.lastIndexOf(head)));
    if (at > lastAt) [last, lastAt] = [kind, at];
  }
  return last;
}

export const rubricOf = (things: readonly Thing[]) =>
  ['The answer does what was asked.', ...things.map(({ wish }) => wish)].join(' ');

export const countThings = (kinds: readonly Kind[]) => kinds.reduce((sum, { things }) => sum + things.length, 0);

/** Advice that states no thing and changes no answer. */
export const REMARKS: readonly string[] = [
  'Read the request twice before you answer.',
  'Stay friendly and to the point.',
  'Check your work before you send it.',
  'Think step by step about what is wanted.',
  'Prefer plain words to difficult ones.',
  'Be consistent from one answer to the next.',
  'Pay attention to details.',
  'When in doubt, choose the simpler way.',
  'Keep the reader in mind.',
  'Make sure that nothing is left out.',
  'Use a clear structure.',
  'Take the wishes of the person seriously.',
  'Avoid repeating what is known.',
  'Look at similar work before you begin.',
];

/** Advice that makes answers a little worse. */
export const HARMS: readonly string[] = [
  'Answer in one short sentence.',
  'Skip everything that was not asked for word by word.',
  'Save time: leave the details to the reader.',
];

export type Advice = { readonly stated: ReadonlySet<string>; readonly harms: ReadonlySet<string> };

const SENTENCE = /[^.!?\n]+(?:[.!?](?!\s|$)[^.!?\n]*)*/g;

export function readAdvice(text: string, things: readonly Thing[]): Advice {
  const sentences = text.match(SENTENCE) ?? [];
  const stated = things.filter(({ cue }) => sentences.some((sentence) => cue.test(sentence)));
  return {
    stated: new Set(stated.map(({ name }) => name)),
    harms: new Set(HARMS.filter((harm) => text.includes(harm.slice(0, -1)))),
  };
}

/** How often a thing is done that a document asks for, and by chance. */
const RELIABILITY = 0.9;
const HABIT = 0.1;
/** How often one piece of bad advice makes an answer thin. */
const THIN_RATE = 0.5;

/** The wanted things that an attempt does and misses, and whether it leaves out others. */
type Attempt = { readonly kept: readonly Thing[]; readonly missed: readonly Thing[]; readonly isThin: boolean };

const chanceOf = ({ name }: Thing, { stated }: Advice) => (stated.has(name) ? RELIABILITY : HABIT);
const thinChance = ({ harms }: Advice) => 1 - (1 - THIN_RATE) ** harms.size;

export function attempt({ things }: Kind, advice: Advice, draw: Draw): Attempt {
  const isKept = (thing: Thing) => draw(`keeps ${thing.name}`) < chanceOf(thing, advice);
  const kept = things.filter(isKept);
  return { kept, missed: things.filter((thing) => !kept.includes(thing)), isThin: draw('thin') < thinChance(advice) };
}

const THIN = 'I left out the rest.';
const OPENINGS = ['Here it is.', 'Done.', 'As asked.', 'This should do.', 'Have a look.', 'My proposal:'];
const CLOSINGS = ['Tell me if more is needed.', 'I kept to what was asked.', 'The rest is as usual.', 'That is all.'];

/**
 * An attempt in words, the telling part first, since readers may see the beginning only. No two are worded alike, so that a
 * judge looks at each one afresh.
 */
export function writeAnswer({ kept, missed, isThin }: Attempt, draw: Draw): string {
  const telling = [...kept.map((thing) => thing.kept), ...missed.map((thing) => thing.missed)];
  const steps = `It took ${1 + Math.floor(draw('steps') * 5_000)} steps.`;
  const around = [pick(draw, 'opening', OPENINGS), pick(draw, 'closing', CLOSINGS), steps];
  return [...telling, ...(isThin ? [THIN] : []), ...around].join(' ');
}

export function readAnswer(text: string, wanted: readonly Thing[]): Attempt {
  const kept = wanted.filter((thing) => text.includes(thing.kept));
  return { kept, missed: wanted.filter((thing) => !kept.includes(thing)), isThin: text.includes(THIN) };
}

/** The worth of an answer that does what was asked, what all things add, and what a thin one loses. */
const [ASKED, THINGS, THIN_COST] = [0.45, 0.45, 0.12];

export function qualityOf({ kept, missed, isThin }: Attempt): number {
  const wanted = kept.length + missed.length;
  return ASKED + THINGS * (wanted === 0 ? 1 : kept.length / wanted) - (isThin ? THIN_COST : 0);
}

/** What a night measures: the judge's score, the share of passes, or half of each. */
export type Measure = 'soft' | 'hard' | 'mixed';
type Judging = { readonly sd: number; readonly measure: Measure; readonly passMark: number };

/** The mean over endlessly many answers of a kind, each judged twice. */
export function expectedScore(kind: Kind, advice: Advice, judging: Judging): number {
  const outcomes = outcomesOf(kind, advice);
  return outcomes.reduce((sum, { chance, quality }) => sum + chance * judgedScore(quality, judging), 0);
}

function outcomesOf({ things }: Kind, advice: Advice) {
  const flags = [...things.map((thing) => chanceOf(thing, advice)), thinChance(advice)];
  return Array.from({ length: 2 ** flags.length }, (_, code) => {
    const isSet = (at: number) => ((code >> at) & 1) === 1;
    const chance = flags.reduce((product, one, at) => product * (isSet(at) ? one : 1 - one), 1);
    const kept = things.filter((_, at) => isSet(at));
    const missed = things.filter((_, at) => !isSet(at));
    return { chance, quality: qualityOf({ kept, missed, isThin: isSet(things.length) }) };
  });
}

function judgedScore(quality: number, { sd, measure, passMark }: Judging): number {
  const soft = clippedMean(quality, sd);
  if (measure === 'soft') return soft;
  const hard = passRate(quality, sd, passMark);
  return measure === 'hard' ? hard : (soft + hard) / 2;
}

const clip = (value: number) => Math.min(1, Math.max(0, value));
const density = (z: number) => Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI);

/** Mean of a normal about a value, kept within 0 and 1. */
function clippedMean(at: number, sd: number): number {
  if (sd === 0) return clip(at);
  const [low, high] = [-at / sd, (1 - at) / sd];
  return at * (normalCdf(high) - normalCdf(low)) + sd * (density(low) - density(high)) + (1 - normalCdf(high));
}

const SLICES = 200;

/** How often the mean of two judgements reaches the mark, over slices of equal chance of the first one. */
function passRate(at: number, sd: number, passMark: number): number {
  if (sd === 0) return clip(at) >= passMark ? 1 : 0;
  const reaches = (needed: number) => (needed <= 0 ? 1 : needed > 1 ? 0 : 1 - normalCdf((needed - at) / sd));
  const slices = Array.from({ length: SLICES }, (_, slice) => {
    const first = clip(at + sd * normalQuantile((slice + 0.5) / SLICES));
    return reaches(2 * passMark - first);
  });
  return slices.reduce((sum, chance) => sum + chance, 0) / SLICES;
}
