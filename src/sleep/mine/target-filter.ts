import { basename, dirname, extname } from 'node:path';
import { STOP_WORDS } from '../../core/text/index.ts';
import { followUpsOf, type TaskRecord } from '../task-record.ts';
import { readSkillHint } from './heuristic-miner.ts';

/** The skill that a night is to improve. */
export type TargetSkill = { readonly path: string; readonly text: string };

const MOST_COMMON = 180;
/** What a document is about stands in its beginning. */
const MOST_READ = 200_000;
const TOKEN = /[\p{L}\p{N}]+(?:[-_][\p{L}\p{N}]+)*/gu;

/** Words of any skill and any request to an agent. */
const COMMON = new Set('skill skills file files task tasks user please should must will your you use using'.split(' '));

/**
 * The tasks that a skill is about, by the words they share, best first. One word of its name or headings is enough, or two
 * of its text. When no task is about it, all of them are kept: then the words are to blame.
 */
export function filterForTarget(tasks: readonly TaskRecord[], skill: TargetSkill): TaskRecord[] {
  if (skill.text.trim() === '') return [...tasks];
  const keywords = keywordsOf(skill);
  const name = nameOf(skill.path);
  const scored = tasks.map((task) => ({ task, hits: withHint(countHits(task, keywords), task, name) }));
  const fitting = scored.filter(({ hits }) => hits.strong >= 1 || hits.weak >= 2);
  const scoreOf = ({ hits }: (typeof scored)[number]) => 3 * hits.strong + hits.weak;
  const best = fitting.sort((a, b) => scoreOf(b) - scoreOf(a)).map(({ task }) => task);
  return best.length === 0 ? [...tasks] : best;
}

type Keywords = { readonly strong: ReadonlySet<string>; readonly weak: ReadonlySet<string> };

function keywordsOf({ path, text }: TargetSkill): Keywords {
  const headings = text.match(/^ {0,3}#{1,6}[ \t].*$/gm) ?? [];
  const strong = new Set(tokensOf([nameOf(path), ...headings].join('\n')));
  return { strong, weak: new Set([...strong, ...mostCommon(tokensOf(text))]) };
}

/** A skill is named by its folder; another document by itself. */
function nameOf(path: string): string {
  const name = basename(path, extname(path));
  return name.toLowerCase() === 'skill' ? basename(dirname(path)) : name;
}

/** Words of at least three letters that are no numbers; a compound one and its parts. */
function tokensOf(text: string): string[] {
  const tokens = text.slice(0, MOST_READ).normalize('NFKC').toLowerCase().match(TOKEN) ?? [];
  const parts = tokens.flatMap((token) => (/[-_]/.test(token) ? [token, ...token.split(/[-_]/)] : [token]));
  return parts.filter((part) => isTelling(part) && !STOP_WORDS.has(part) && !COMMON.has(part));
}

const isTelling = (token: string) => [...token].length >= 3 && !/^[\p{N}_-]+$/u.test(token);

function mostCommon(tokens: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const token of tokens) counts.set(token, (counts.get(token) ?? 0) + 1);
  const ranked = [...counts].sort((a, b) => b[1] - a[1]);
  return ranked.slice(0, MOST_COMMON).map(([token]) => token);
}

/** A task that was done with the skill is about it, whatever its words are. */
const withHint = (hits: { strong: number; weak: number }, { skillHint }: TaskRecord, name: string) =>
  readSkillHint(skillHint)?.skill === name ? { ...hits, strong: hits.strong + 1 } : hits;

function countHits(task: TaskRecord, { strong, weak }: Keywords) {
  const tokens = new Set(tokensOf([task.intent, task.contextExcerpt, followUpsOf(task)].join('\n')));
  const count = (keywords: ReadonlySet<string>) => [...tokens].filter((token) => keywords.has(token)).length;
  return { strong: count(strong), weak: count(weak) };
}
