import type { Kind } from '../gate/stream.ts';

/** How an edit that helps or harms does it: `rules` are finite and local, a `mix` is endless and broad. */
export type Effects =
  | {
      readonly type: 'rules';
      /** Things to learn. A task needs one or two of them. */
      readonly rules: number;
      /** Share of the tasks that need none. */
      readonly settled: number;
      /** Chances per edit: harmful, and right if it is not. The rest does nothing. */
      readonly precision: number;
      readonly harm: number;
      /** Whether one failure of a kind teaches less than three of them. */
      readonly isSupportTelling: boolean;
    }
  | {
      readonly type: 'mix';
      /** Shares of good and harmful edits; each moves a share `items` of the tasks by `shift`. */
      readonly good: number;
      readonly harmful: number;
      readonly items: number;
      readonly shift: number;
    };

/** A world of the family. Plain data, since it travels to another process. */
export type WorldSpec = {
  readonly name: string;
  readonly effects: Effects;
  /** Share of slips of each task, or `mixed`: every task has its own, from hardly any to a coin. */
  readonly noise: number | 'mixed';
  readonly kind: Kind;
  /** Validation and training tasks. */
  readonly n: number;
  readonly train: number;
  /** Target calls, all passes counted. */
  readonly budget: number;
  /** How an optimizer orders what analysts propose. */
  readonly ranker: 'right' | 'noisy' | 'random';
  /** Whether an idea comes back word for word. */
  readonly wording: 'fixed' | 'new';
  /** Whether the optimizer thinks over what it is shown as rejected. */
  readonly learns: boolean;
  /** Most edits that one analyst proposes, whatever it is allowed. */
  readonly editsPerAnalyst: number;
  /** Chance that two edits which were measured apart spoil a tenth of the tasks together. */
  readonly clash: number;
  /** Chance that an analyst proposes again, word for word, what was rejected before. */
  readonly repeats: number;
  /** Chance that an analyst proposes the answer of a training task: it lifts that task and no other. */
  readonly copies: number;
  /** No text changes anything, but for a copied answer on its own training task. */
  readonly isNull: boolean;
};

const BASE: Omit<WorldSpec, 'name' | 'effects'> = {
  noise: 0.1,
  kind: 'binary',
  n: 40,
  train: 80,
  budget: 680,
  ranker: 'right',
  wording: 'fixed',
  learns: false,
  editsPerAnalyst: 4,
  clash: 0,
  repeats: 0,
  copies: 0,
  isNull: false,
};

type More = Partial<Omit<WorldSpec, 'name' | 'effects'>>;

/** Local rules; `precision` in tenths. */
export function rules(count: number, tenths: number, more: More & { readonly name?: string } = {}): WorldSpec {
  const effects = {
    type: 'rules',
    rules: count,
    settled: 0,
    precision: tenths / 10,
    harm: 0.2,
    isSupportTelling: false,
  } as const;
  return { ...BASE, name: `r${count}_p${tenths}`, effects, ...more };
}

const MIXES = {
  A: { type: 'mix', good: 0.3, harmful: 0.3, items: 0.15, shift: 0.45 },
  B: { type: 'mix', good: 0.25, harmful: 0.35, items: 0.3, shift: 0.5 },
  C: { type: 'mix', good: 0.1, harmful: 0.5, items: 0.25, shift: 0.5 },
} as const satisfies Record<string, Effects>;

/** Broad edits. The tasks have rates of their own, nearly steady ones and wavering ones, unless `noise` is given. */
export function mix(letter: keyof typeof MIXES, more: More & { readonly name?: string } = {}): WorldSpec {
  const usual = { noise: 'mixed', ranker: 'random', editsPerAnalyst: 1 } as const;
  return { ...BASE, name: `mix${letter}`, effects: MIXES[letter], ...usual, ...more };
}
