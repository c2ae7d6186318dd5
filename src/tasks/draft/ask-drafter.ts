import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { dataSection, HEADINGS, promptSection, skillSection, taskCountLine } from '../../core/contracts/index.ts';
import { askForJson, type StageDeps } from '../../pipeline/index.ts';
import type { SkillFile } from '../../skills/index.ts';
import { CONTROL, type DraftRow } from '../task-row.ts';
import { type ReadDraft, readDraft } from './read-draft.ts';

/** A part of what a skill covers. */
export type Topic = { readonly name: string; readonly about: string };

export type Subject = {
  readonly skill: string;
  readonly files: readonly SkillFile[];
  /** Whether a model can score answers by criteria: the project names a judge. */
  readonly hasJudge: boolean;
};

type AskDeps = Pick<StageDeps, 'optimizer' | 'stop'>;

const MOST_TOPICS = 12;
const MOST_OUTPUT = 8_192;
/** Further ones are repeated all the same, and cost tokens. */
const MOST_SHOWN = 60;

const promptOf = (name: string) => readFileSync(new URL(`./prompts/${name}.md`, import.meta.url), 'utf8');

const Outline = z.object({
  skillTopics: z.array(z.object({ name: z.string().min(1).max(80), about: z.string().default('') })).min(1),
});

/** What the skill covers. A reply that cannot be read is one topic: the skill as a whole. */
export async function askForOutline(subject: Subject, { optimizer, stop }: AskDeps): Promise<Topic[]> {
  const question = { system: promptOf('outline_skill'), user: skillText(subject).join('\n\n'), stage: 'outline' };
  const asked = { ...question, schema: Outline, maxOutputTokens: MOST_OUTPUT, isAskedAgain: true };
  const reply = await askForJson(asked, { model: optimizer, stop });
  const topics = reply?.skillTopics ?? [{ name: 'skill', about: 'All that the skill teaches.' }];
  const named = new Map(topics.map((topic) => [topic.name.trim().toLowerCase(), topic]));
  named.delete(CONTROL);
  return [...named].slice(0, MOST_TOPICS).map(([name, { about }]) => ({ name, about }));
}

function skillText({ skill, files }: Subject): string[] {
  const text = files.map((file) => `${file.path}\n\n${file.text}`).join('\n\n');
  return [skillSection(skill), ...(files.length === 0 ? [] : [dataSection(HEADINGS.files, 'surroundings', text)])];
}

export type DraftRequest = {
  /** Without one: tasks beside the field of the skill. */
  readonly topic: Topic | undefined;
  readonly count: number;
  /** Questions that are there already. */
  readonly known: readonly string[];
  readonly round: number;
};

const Drafts = z.object({ taskDrafts: z.array(z.unknown()) });

/** Drafts of one kind, as far as they can be read; nothing where the whole reply cannot be. */
export async function askForDrafts(
  { topic, count, known, round }: DraftRequest,
  subject: Subject,
  { optimizer, stop }: AskDeps,
): Promise<ReadDraft[]> {
  const shown = known.slice(-MOST_SHOWN).map((question) => `- ${question.replace(/\s+/g, ' ')}`);
  const user = [
    ...skillText(subject),
    ...(topic ? [dataSection(HEADINGS.topic, 'topic', `${topic.name}: ${topic.about}`)] : []),
    ...(shown.length > 0 ? [dataSection(HEADINGS.questions, 'questions', shown.join('\n'))] : []),
    promptSection(HEADINGS.taskCount, taskCountLine(count)),
  ].join('\n\n');
  const system = promptOf(topic ? 'draft_tasks' : 'draft_controls').replace('{{kinds}}', kindsFor(subject));
  const question = { system, user, stage: 'draft', schema: Drafts, sampleIndex: round, isAskedAgain: true };
  const reply = await askForJson({ ...question, maxOutputTokens: MOST_OUTPUT }, { model: optimizer, stop });
  const taskType: DraftRow['taskType'] = topic?.name ?? CONTROL;
  return (reply?.taskDrafts ?? []).slice(0, count).map((draft) => readDraft(draft, { taskType, ...subject }));
}

/** How answers may be scored. */
function kindsFor({ hasJudge }: Subject): string {
  const answers =
    '- `answers` is the right answer as short as it can be, or every way to write it: the given answer must be one of them, but for case and punctuation.';
  const checks =
    '- Where no short answer is right, leave `answers` out and give `checks`, for example `[{ "type": "icontains", "value": "supervisor" }, { "type": "word-count", "value": { "max": 80 } }]`. There is `contains`, `icontains`, `contains-all`, `starts-with`, `regex`, `is-json`, `word-count`; `"not": true` turns one round.';
  const criteria =
    '- Where only a reader can tell, leave both out and give `criteria`: two to five statements that each hold of a good answer or do not.';
  return [answers, checks, ...(hasJudge ? [criteria] : [])].join('\n');
}
