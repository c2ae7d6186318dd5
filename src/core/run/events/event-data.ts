import type { Evaluation, GateAction, PairCategory, RolloutResult } from '../../contracts/index.ts';
import type { Blame, GateDecision } from '../gate-evidence.ts';

/** Everything that may change the outcome, by name. A run resumes only under the same identity. */
export type RunIdentity = Readonly<Record<string, string | number | boolean>>;

/** Stands in the identity of a run whose user passed a rule. */
export const ACCEPTANCE_RULE = 'acceptance rule';

/** The file that a run's skill was read from. */
export type SkillSource = {
  /** Relative to the run directory: a project may move with both. */
  readonly path: string;
  /** SHA-256 of its bytes when the run began. */
  readonly digest: string;
};

/** How many tasks a model drafted, and how many of those nobody had reviewed when the run began. */
export type DraftedTasks = { readonly drafted: number; readonly unreviewed: number };

export type TriedText = { readonly op: string; readonly target: string; readonly content: string };

/** A text that gives tasks away. With a kind, it is quarantined. */
export type Refusal = TriedText & { readonly reason: string; readonly kind?: string };

/** Why a search was over before its epochs were. */
export type SearchEnd = 'nothing_to_gain' | 'rollouts_spent' | 'only_losses' | 'optimizer_spent';

export type TestSubject = 'baseline' | 'best' | 'final';

/** How many changes the optimizer itself wants to make now. */
export type LrDecision = {
  readonly learningRate: number;
  /** What it said, before it was limited to the proposed changes. */
  readonly rawLearningRate: number | null;
  readonly availableUpdateItems: number;
  readonly isClamped: boolean;
  /** Its answer could not be read. */
  readonly isFallback: boolean;
  readonly reasoning: string;
  readonly confidence: string;
  readonly riskNotes: string;
};

export type Trial = {
  readonly candidateSkill: string;
  readonly candidateHash: string;
  readonly evaluation: Evaluation | null;
  readonly score: number;
  readonly isPartial?: boolean;
  readonly decision?: GateDecision;
  readonly blame?: Blame;
};

/** Parts of a rejected patch, each tried by itself. */
export type Salvage = {
  readonly tries: readonly { readonly edits: readonly number[]; readonly score: number; readonly hash: string }[];
  readonly evaluations: Readonly<Record<string, { readonly hard: number; readonly soft: number }>>;
  /** The part that was better, with the indexes of its edits in the patch. */
  readonly accepted: (Trial & { readonly action: StepAction; readonly edits: readonly number[] }) | null;
  /** Attempts of the current skill where parts made most tasks throw. */
  readonly asked?: number;
};

/** The current skill without something that an accepted step has added, before the gate. */
export type Removal = Trial & {
  readonly action: StepAction;
  /** The step that added it, and what it is. */
  readonly of: number;
  readonly removed: readonly string[];
};

/** The skill without lines that nothing supports, after the search. */
export type Shortening = Trial & {
  readonly action: StepAction;
  /** Its place among the tries, from 1. */
  readonly place: number;
  readonly removed: readonly string[];
  /** What is tried after it, in this order. */
  readonly next: readonly (readonly string[])[];
};

/** One task under two skills. */
export type Pair = {
  readonly id: string;
  readonly category: PairCategory;
  readonly previous: RolloutResult;
  readonly current: RolloutResult;
};

/** What became of the guidance at the end of an epoch. */
export type SlowUpdate = Trial & {
  readonly action: StepAction | 'no_content' | 'over_cap' | 'leak' | 'hidden_text';
  readonly leakReason?: string;
  /** What it tries, where it is quarantined. */
  readonly leakKind?: string;
  /** What it hides: an HTML comment, or the number of a character. */
  readonly hidden?: string;
  readonly pairs: readonly { readonly id: string; readonly category: PairCategory }[];
  readonly nClippedTrajectories?: number;
  readonly prevHard: number;
  readonly currHard: number;
  readonly content: string;
  readonly reasoning: string;
  readonly invalidReason?: string;
};

/** What was taken out of the best skill without loss. */
export type Prune = {
  readonly removed: readonly string[];
  /** The worth of each passage that was tried: the score with it less the score without. */
  readonly measured?: readonly { readonly passage: string; readonly gain: number; readonly tasks: number }[];
  readonly tries: number;
  readonly skill: string;
  readonly hash: string;
  readonly score: number;
  readonly evaluations: Readonly<Record<string, { readonly hard: number; readonly soft: number }>>;
  /** Where most tasks threw without a passage: the attempts at them, and those of the current skill. */
  readonly unscored?: number;
};

export const STAGES = ['rollout', 'reflect', 'aggregate', 'select', 'update', 'evaluate'] as const;
export type Stage = (typeof STAGES)[number];

/** What became of a step: the gate's decision, or why the gate was not asked. */
export type StepAction =
  | (GateAction | 'unchanged' | 'force_accept')
  | ('skip_no_patches' | 'skip_no_rewrite' | 'skip_invalid');
