import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Where commands, programs and settings of readers are shown. */
export const DOC_PAGES: readonly string[] = [
  'README.md',
  ...readdirSync('docs')
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name)),
];

/** What a reader would type, run or put into a file. Other blocks show output. */
const CHECKED = ['bash', 'sh', 'ts', 'yaml', 'json'];

export type DocBlock = {
  readonly page: string;
  /** Of its opening fence. */
  readonly line: number;
  readonly language: string;
  readonly text: string;
  /** What the HTML comment above the fence says. */
  readonly marker: string | undefined;
};

export type BlockMark =
  /** Commands or a program: executed in the folder of the page, or in a new one with the files of the fixture. */
  | { readonly kind: 'run'; readonly fixture: string | undefined; readonly exitCode: number }
  /** Written into that folder. A project file is loaded, a program is checked for its types. */
  | { readonly kind: 'file'; readonly name: string; readonly fixture: string | undefined }
  /** A part of a project file: it must be accepted as one. */
  | { readonly kind: 'settings' }
  /** Rows of a task file, or the judge of one task. */
  | { readonly kind: 'tasks'; readonly of: 'qa' | 'workspace' | 'judge' }
  /** A program that is only checked for its types. */
  | { readonly kind: 'types' }
  /** Each of its lines is in the output of the block above it; `…` stands for those that are left out. */
  | { readonly kind: 'printed' }
  | { readonly kind: 'needs a key' }
  | { readonly kind: 'shown'; readonly why: string };

export const MARKERS = `Write one of these on the line above the block:
  <!-- run -->                       run it in the folder of the page
  <!-- run: FIXTURE -->              run it in a new folder with the files of this fixture
  <!-- run: FIXTURE, exit 1 -->      the same, with another exit code than 0
  <!-- file: NAME in FIXTURE -->     write it there; without "in": into the folder of the page
  <!-- settings -->                  a part of a project file
  <!-- tasks -->                     rows of a task file; "tasks: workspace" for agents; "task: judge" for one judge
  <!-- types -->                     only check the types of a program
  <!-- needs a key -->               nothing simulated can stand in
  <!-- shown: WHY -->                neither run nor checked`;

/** The fenced blocks of a page that need a marker, and those that have one. */
export function blocksOf(page: string): DocBlock[] {
  const lines = readFileSync(page, 'utf8').split('\n');
  const blocks: DocBlock[] = [];
  for (let at = 0; at < lines.length; at++) {
    const language = /^```(\w*)$/.exec(lines[at]!)?.[1];
    if (language === undefined) continue;
    const end = lines.indexOf('```', at + 1);
    const marker = /^<!-- (.*) -->$/.exec(lines[at - 1] ?? '')?.[1];
    const text = lines.slice(at + 1, end).join('\n');
    if (marker !== undefined || CHECKED.includes(language)) {
      blocks.push({ page, line: at + 1, language, text, marker });
    }
    at = end;
  }
  return blocks;
}

export const placeOf = ({ page, line }: DocBlock) => `${page}:${line}`;

/** Nothing for a block without a marker, or with one that nobody knows. */
export function markOf({ marker = '' }: DocBlock): BlockMark | undefined {
  const [, name = marker, rest = ''] = /^([\w ]+?): (.*)$/.exec(marker) ?? [];
  if (name === 'run') {
    const [, fixture, exit] = /^([\w-]+)?(?:(?:, )?exit (\d+))?$/.exec(rest) ?? [];
    return { kind: 'run', fixture, exitCode: Number(exit ?? 0) };
  }
  if (name === 'file') {
    const [, file = '', fixture] = /^(\S+)(?: in ([\w-]+))?$/.exec(rest) ?? [];
    return { kind: 'file', name: file, fixture };
  }
  if (name === 'tasks') return { kind: 'tasks', of: rest === 'workspace' ? 'workspace' : 'qa' };
  if (name === 'task') return { kind: 'tasks', of: 'judge' };
  if (name === 'settings' || name === 'types' || name === 'printed' || name === 'needs a key') return { kind: name };
  return name === 'shown' && rest !== '' ? { kind: 'shown', why: rest } : undefined;
}
