import { basename, dirname, extname } from 'node:path';
import { STOP_WORDS } from '../../core/text/index.ts';
import { followUpsOf, type TaskRecord } from '../task-record.ts';
import { readSkillHint } from './heuristic-miner.ts';

export type TargetSkill = { readonly path: string; readonly text: string };

const MOST_COMMON = 180;
/** The beginning of a document says what it is about. */
const MOST_READ = 200_000;
const TOKEN = /[\p{L}\p{N}]+(?:[-_][\p{L}\p{N}]+)*/gu;

/** Words that any skill and any request uses. */
const COMMON = new Set('skill skills file files task tasks user please should must will your you use using'.split(' '));

/**
 * The tasks that share words with a skill, best first: one word of its name or headings, or two of its text. If none does,
 * all tasks are kept.
 */
export function filterForTarget(tasks: readonly TaskRecord[], skill: TargetSkill): TaskRecord[] {
  if (skill.text.trim() === '') return [...tasks];
  const name = nameOf(skill.path);
  const headings = skill.text.match(/^ {0,3}#{1,6}[ \t].*$/gm) ?? [];
  const strongWords = new Set(tokensOf([name, ...headings].join('\n')));
  const weakWords = new Set([...strongWords, ...mostCommon(tokensOf(skill.text))]);
  const scored = tasks.map((task) => {
    const tokens = [...new Set(tokensOf([task.intent, task.contextExcerpt, followUpsOf(task)].join('\n')))];
    const isDoneWithIt = readSkillHint(task.skillHint)?.skill === name;
    const strong = tokens.filter((token) => strongWords.has(token)).length + Number(isDoneWithIt);
    const weak = tokens.filter((token) => weakWords.has(token)).length;
    return { task, isFitting: strong >= 1 || weak >= 2, score: 3 * strong + weak };
  });
  const best = scored.filter(({ isFitting }) => isFitting).sort((a, b) => b.score - a.score);
  return best.length === 0 ? [...tasks] : best.map(({ task }) => task);
}

/** A skill is named by its folder, another document by its file. */
function nameOf(path: string): string {
  const name = basename(path, extname(path));
  return name.toLowerCase() === 'skill' ? basename(dirname(path)) : name;
}

/** Words of at least three letters that are not numbers; compound words with their parts. */
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
