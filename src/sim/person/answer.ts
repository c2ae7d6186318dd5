import type { Draw } from '../draw.ts';
import type { Advice } from './documents.ts';
import type { Kind, Thing } from './kind.ts';

/** How often a thing is done that a document asks for, and how often by chance. */
const RELIABILITY = 0.9;
const HABIT = 0.1;
/** How often an answer is thin because of one piece of bad advice. */
const THIN_RATE = 0.5;

/** An attempt: which of the wanted things it does, and whether it leaves out other things. */
export type Attempt = { readonly kept: readonly Thing[]; readonly missed: readonly Thing[]; readonly isThin: boolean };

/** How likely an agent that has read this does a thing. */
export const chanceOf = ({ name }: Thing, { stated }: Advice) => (stated.has(name) ? RELIABILITY : HABIT);
export const thinChance = ({ harms }: Advice) => 1 - (1 - THIN_RATE) ** harms.size;

export function attempt({ things }: Kind, advice: Advice, draw: Draw): Attempt {
  const isKept = (thing: Thing) => draw(`keeps ${thing.name}`) < chanceOf(thing, advice);
  const kept = things.filter(isKept);
  return { kept, missed: things.filter((thing) => !kept.includes(thing)), isThin: draw('thin') < thinChance(advice) };
}

const THIN = 'I left out the rest.';
const OPENINGS = ['Here it is.', 'Done.', 'As asked.', 'This should do.', 'Have a look.', 'My proposal:'];
const CLOSINGS = ['Tell me if more is needed.', 'I kept to what was asked.', 'The rest is as usual.', 'That is all.'];

/**
 * An attempt in words: what tells good from bad comes first, since readers may see the beginning only. No two are worded
 * alike, so that a judge looks at each one afresh.
 */
export function writeAnswer({ kept, missed, isThin }: Attempt, draw: Draw): string {
  const pick = (label: string, texts: readonly string[]) => texts[Math.floor(draw(label) * texts.length)]!;
  const telling = [...kept.map((thing) => thing.kept), ...missed.map((thing) => thing.missed)];
  const steps = `It took ${1 + Math.floor(draw('steps') * 5_000)} steps.`;
  return [...telling, ...(isThin ? [THIN] : []), pick('opening', OPENINGS), pick('closing', CLOSINGS), steps].join(' ');
}

/** What a reader sees in an answer of the things that it looks for. */
export function readAnswer(text: string, wanted: readonly Thing[]): Attempt {
  const kept = wanted.filter((thing) => text.includes(thing.kept));
  return { kept, missed: wanted.filter((thing) => !kept.includes(thing)), isThin: text.includes(THIN) };
}
