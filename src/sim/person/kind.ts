/** Something that the person wants of every answer of a kind and that no request says. */
export type Thing = {
  readonly name: string;
  /** Sentences that state it in a document; the first is the plainest. */
  readonly rules: readonly [string, string, string];
  /** What a sentence must contain to state it. Wider than `rules`, so that paraphrases count. */
  readonly cue: RegExp;
  /** What stands in an answer that does it, and in one that does not. */
  readonly kept: string;
  readonly missed: string;
  /** As a rubric asks for it, and as a judge says that it is missing. */
  readonly wish: string;
  readonly lack: string;
  /** As the person says that it is missing. */
  readonly complaint: string;
};

/** Something that the person asks for again and again, each time about something else. */
export type Kind = {
  readonly name: string;
  /** How a request begins. No other text begins so. */
  readonly heads: readonly string[];
  readonly objects: readonly string[];
  readonly things: readonly Thing[];
};

/** What a request is for: with the object, it makes two requests of a kind differ. */
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

/** The kind that a text asks for: the one whose head stands last in it. */
export function kindIn(text: string, kinds: readonly Kind[]): Kind | undefined {
  const placed = kinds.map((kind) => ({ kind, at: Math.max(...kind.heads.map((head) => text.lastIndexOf(head))) }));
  const last = placed.reduce((best, next) => (next.at > best.at ? next : best), { kind: undefined, at: -1 } as {
    kind: Kind | undefined;
    at: number;
  });
  return last.kind;
}

/** A rubric as a careful miner writes it: the things in its words, each a sentence. */
export const rubricOf = (things: readonly Thing[]) =>
  ['The answer does what was asked.', ...things.map(({ wish }) => wish)].join(' ');

export const countThings = (kinds: readonly Kind[]) => kinds.reduce((sum, { things }) => sum + things.length, 0);
