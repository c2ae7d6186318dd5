import { oneLine, percent, plural, points } from '../../core/text/index.ts';
import { clip, type LineStyle, padEnd, wrap } from '../layout.ts';

/** A line that a document gained, lost, or did not get. */
export type StoryLine = { readonly text: string; readonly why?: string };

/** What a night came to. */
export type NightStory = {
  /** Counts from 1. */
  readonly night: number;
  readonly sessions: number;
  readonly tasks: number;
  /** Of all models. */
  readonly calls: number;
  readonly learned: readonly StoryLine[];
  readonly forgotten: readonly StoryLine[];
  readonly rejected: readonly StoryLine[];
  readonly quarantined: readonly StoryLine[];
  /** Why nothing was proposed, and what it would take; empty when something was. */
  readonly whyNothing?: string;
  /** What a poisoned transcript of the day tried, and what became of it. */
  readonly poison?: { readonly name: string; readonly text: string; readonly fate: PoisonFate };
  /** On days that nobody has seen, with the documents of the next morning. */
  readonly score: number;
};

/** `unnoticed`: nobody made a rule of it. */
export type PoisonFate = 'unnoticed' | 'quarantined' | 'rejected' | 'staged';

export type WeekStory = {
  /** On unseen days, before the first night. */
  readonly start: number;
  /** With everything that the person wants. */
  readonly best: number;
  /** How many things that is. */
  readonly things: number;
  readonly nights: readonly NightStory[];
};

/** A week as a person reads it: night by night, and what it was worth. */
export function weekLines(week: WeekStory, style: LineStyle): string[] {
  const before = (at: number) => week.nights[at - 1]?.score ?? week.start;
  const nights = week.nights.flatMap((night, at) => [...nightLines(night, before(at), style), '']);
  return [...nights, ...endLines(week, style)];
}

/** More of them say nothing new: nearly every night tries several in vain. */
const MOST_REJECTED = 3;

/** `before`: the score on unseen days in the evening. */
function nightLines(night: NightStory, before: number, { width, colors }: LineStyle): string[] {
  const { bold, dim, green, yellow } = colors;
  const counts = [plural(night.sessions, 'session'), plural(night.tasks, 'task'), plural(night.calls, 'call')];
  const gain = night.score - before;
  const more = night.rejected.length - MOST_REJECTED;
  const stories = (label: string, lines: readonly StoryLine[], paint: (text: string) => string) =>
    lines.map(({ text, why }, at) => {
      const story = `${SIGNS[label]} ${oneLine(text)}${why === undefined ? '' : ` (${oneLine(why)})`}`;
      return labelled(at === 0 ? label : '', paint(clip(story, textSpace(width))));
    });
  return [
    `${bold(`night ${night.night}`)}  ${dim(clip(counts.join(', '), width - HEAD_WIDTH))}`,
    ...stories('learned', night.learned, green),
    ...stories('forgotten', night.forgotten, String),
    ...nothingLines(night, width),
    ...stories('rejected', night.rejected.slice(0, MOST_REJECTED), dim),
    ...(more > 0 ? [labelled('', dim(`  and ${more} more`))] : []),
    ...stories('quarantined', night.quarantined, yellow),
    ...poisonLines(night, { width, colors }),
    labelled('unseen days', `${percent(night.score)}${gain === 0 ? '' : ` (${points(gain)})`}`),
  ];
}

const SIGNS: Readonly<Record<string, string>> = { learned: '+', forgotten: '-', rejected: '·', quarantined: '!' };

/** Whole, because it says what to do. */
const nothingLines = ({ whyNothing = '' }: NightStory, width: number) =>
  whyNothing === ''
    ? []
    : wrap(oneLine(whyNothing), textSpace(width)).map((line, at) => labelled(at === 0 ? 'no proposal' : '', line));

const LABEL_WIDTH = 13;
/** `night 60` and two spaces. */
const HEAD_WIDTH = 10;
/** What a label leaves of a line. */
const textSpace = (width: number) => width - LABEL_WIDTH - 2;
const labelled = (label: string, text: string) => `  ${padEnd(label, LABEL_WIDTH)}${text}`;

const FATES: Readonly<Record<PoisonFate, string>> = {
  unnoticed: 'nobody made a rule of it',
  quarantined: 'quarantined',
  rejected: 'proposed and rejected',
  staged: 'STAGED, which must not happen',
};

function poisonLines({ poison }: NightStory, { width, colors }: LineStyle): string[] {
  if (!poison) return [];
  const tried = clip(`a pasted text ${oneLine(poison.name)}: ${oneLine(poison.text)}`, textSpace(width));
  const fate = clip(FATES[poison.fate], textSpace(width));
  return [labelled('poison', colors.yellow(tried)), labelled('', poison.fate === 'staged' ? colors.red(fate) : fate)];
}

function endLines({ start, best, things, nights }: WeekStory, { width, colors }: LineStyle): string[] {
  const end = nights.at(-1)?.score ?? start;
  const poisons = nights.flatMap(({ poison }) => poison ?? []);
  const staged = poisons.filter(({ fate }) => fate === 'staged').length;
  const learned = nights.reduce((sum, night) => sum + night.learned.length - night.forgotten.length, 0);
  const scores = `${percent(start)} before, ${percent(end)} now, ${percent(best)} with all ${plural(things, 'rule')}`;
  return [
    colors.bold(`after ${plural(nights.length, 'night')}`),
    labelled('learned', clip(plural(learned, 'line'), textSpace(width))),
    labelled('poison', clip(`${poisons.length} tried, ${staged} staged`, textSpace(width))),
    labelled('unseen days', clip(scores, textSpace(width))),
  ];
}
