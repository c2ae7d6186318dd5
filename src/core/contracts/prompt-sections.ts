import { fence } from '../text/index.ts';
import type { PairCategory } from './score.ts';

// The stages write these words into prompts, and the simulated optimizer reads them. A change invalidates cached replies.

export const HEADINGS = {
  skill: 'Current skill',
  surroundings: 'Around the skill',
  previousSkill: 'Skill of the epoch before',
  metaSkill: 'What has helped so far',
  steps: 'Earlier steps of this epoch',
  editBudget: 'Edit budget',
  trajectories: 'Trajectories',
  patches: 'Patches to merge',
  failurePatch: 'Failure patch',
  successPatch: 'Success patch',
  edits: 'Edits',
  suggestions: 'Suggestions',
  batchScore: 'This step',
  proposedChanges: 'Proposed changes',
  guidance: 'Guidance so far',
  comparison: 'Comparison',
  notes: 'Notes',
  lengthLimit: 'Limit',
  files: 'Files of the skill',
  mayChange: 'What may be changed',
  topic: 'What to test',
  questions: 'Tasks that are there already',
  taskCount: 'How many',
} as const;

type Heading = (typeof HEADINGS)[keyof typeof HEADINGS];

export const FENCE_KINDS = [
  'skill',
  'surroundings',
  'trajectory',
  'patches',
  'edits',
  'suggestions',
  'items',
  'steps',
  'notes',
  'guidance',
  'comparison',
  'topic',
  'questions',
] as const;
type FenceKind = (typeof FENCE_KINDS)[number];

export const BUDGET_LINES = {
  wholeReplacement: 'Exactly one whole replacement.',
  unlimited: 'No limit.',
  atMost: (count: number, noun: 'edit' | 'suggestion') => `At most ${count} ${noun}${count === 1 ? '' : 's'}.`,
} as const;

export const OUTCOMES = { failure: 'failed', success: 'succeeded' } as const;

/** Lines of a trajectory, in their order; `conversation` is the last, and takes the rest. */
export const TRAJECTORY_FIELDS = [
  'id',
  'task type',
  'task',
  'question',
  'outcome',
  'failure',
  'reference',
  'predicted',
  'turns',
  'user prompt',
  'conversation',
] as const;
export type TrajectoryField = (typeof TRAJECTORY_FIELDS)[number];

export const COMPARISON_TITLES: Readonly<Record<PairCategory, string>> = {
  regressed: 'Regressions: succeeded before, fail now',
  persistent_fail: 'Persistent failures',
  improved: 'Improvements: failed before, succeed now',
  stable_success: 'Stable successes',
};

export const REPLY_KEYS = {
  ranking: 'selected_indices',
  merge: 'support_count',
  failures: 'failure_summary',
  successes: 'success_patterns',
  guidance: 'slow_update_content',
  metaSkill: 'meta_skill_content',
  learningRate: '"learning_rate"',
  rewrite: '"new_skill"',
  notes: '"notes"',
  reminders: 'appendix_notes',
  candidates: 'skill_candidates',
  suggestions: 'revise_suggestions',
} as const;

export const DRAFT_REPLY_KEYS = { outline: 'skill_topics', drafts: 'task_drafts' } as const;

export const taskCountLine = (count: number) => `At most ${count} task${count === 1 ? '' : 's'}.`;

/** A heading, with a note in brackets if there is one, and the text below it. */
export const promptSection = (heading: Heading, text: string, note?: string): string =>
  `## ${heading}${note === undefined ? '' : ` (${note})`}\n${text}`;

/** A section with foreign text, fenced as data. */
export const dataSection = (heading: Heading, kind: FenceKind, text: string, note?: string): string =>
  promptSection(heading, fence(kind, text), note);

export const skillSection = (skill: string) => dataSection(HEADINGS.skill, 'skill', skill);
/** Empty where there is nothing, so that other prompts stay as they are. */
export const surroundingsSections = (text: string) =>
  text === '' ? [] : [dataSection(HEADINGS.surroundings, 'surroundings', text, 'to know, not to edit')];
export const previousSkillSection = (skill: string) => dataSection(HEADINGS.previousSkill, 'skill', skill);
export const guidanceSection = (guidance: string) =>
  guidance === ''
    ? promptSection(HEADINGS.guidance, 'None: this is the first.')
    : dataSection(HEADINGS.guidance, 'guidance', guidance);

/** `[3] {…}`: one of several changes to choose from, under the index by which the reply names it. */
export const indexedLine = (index: number, change: unknown) => `[${index}] ${JSON.stringify(change)}`;
export const INDEXED_LINE = /^\[(\d{1,9})\] (.*)$/gm;

export const STEP_LINES = {
  start: (step: number, outcome: string) => `step ${step}: ${outcome}`,
  failurePattern: (type: string, count: number) => `- ${type} ×${count}`,
  rejectedEdit: (place: number, json: string) => `  ${place}. ${json}`,
} as const;
export const STEP_PATTERNS = {
  start: /^(?=step \d+: )/m,
  rejected: /^step \d+: REJECT\b/,
  failurePattern: /^- (.+?) ×\d+/gm,
  rejectedEdit: /^ {2}\d+\. (\{.*\})$/gm,
} as const;
