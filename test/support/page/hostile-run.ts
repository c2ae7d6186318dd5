import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type JournalLines, journalLines, type RunEvent } from '../../../src/core/run/index.ts';
import { runDirectory } from '../../../src/stores/index.ts';

const CALL = 'window.__stolen=1';

const TAGS = [
  'img src=x onerror',
  'svg onload',
  'body onload',
  'iframe onload',
  'video src=x onerror',
  'input autofocus onfocus',
  'details open ontoggle',
  'marquee onstart',
];
const ENDS = ['</script>', '</style>', '</textarea>', '</title>', '-->', '"]}</script>', "'>", '">'];
const WHOLE = [
  `<script>${CALL}</script>`,
  `<script>${CALL}//`,
  `<!--<script>${CALL}</script>`,
  `<scr<script>ipt>${CALL}</scr</script>ipt>`,
  `<a href="javascript:${CALL}">x</a>`,
  `<a href=" java\nscript:${CALL}">x</a>`,
  `[x](javascript:${CALL})`,
  `![x](x" onerror="${CALL})`,
  `<math><mtext></p><img src=x onerror=${CALL}>`,
  `<style>@import "data:text/css,*{}";</style>`,
  `<base href="https://evil.example/">`,
  `<meta http-equiv="refresh" content="0;url=javascript:${CALL}">`,
  `<form action="javascript:${CALL}"><button>x`,
  `<object data="javascript:${CALL}">`,
  `<embed src="javascript:${CALL}">`,
  `\u2028${CALL}\u2029`,
  `\${${CALL}}`,
  `{{constructor.constructor('${CALL}')()}}`,
  `__proto__`,
  `constructor`,
];

/** What somebody might write into a task or a reply so that a page runs it. */
export const PAYLOADS: readonly string[] = [
  ...new Set([
    ...WHOLE,
    ...TAGS.flatMap((tag) => [`<${tag}=${CALL}>`, `<${tag}="${CALL}">`, `<${tag.toUpperCase()}='${CALL}'/>`]),
    ...ENDS.flatMap((end) => [`${end}<script>${CALL}</script>`, `${end}<img src=x onerror=${CALL}>`]),
    ...TAGS.flatMap((tag) => ENDS.map((end) => `${end}<${tag}=${CALL}>`)),
  ]),
];

const TEXTS = [
  ...['content', 'target', 'reasoning', 'reason', 'question', 'predicted_answer'],
  ...['fail_reason', 'content_preview', 'contentPreview', 'env', 'optimizer', 'taskType', 'task_type', 'id'],
];
const SKILLS = ['initialSkill', 'candidateSkill'];
const NAMES = ['itemIds', 'items', 'taskIds', 'task_ids'];

/** A copy of a run in which every text ends with another payload. */
export async function copyHostile(from: string, to: string): Promise<void> {
  cpSync(from, to, { recursive: true });
  const { write }: JournalLines = journalLines();
  const events = await runDirectory(from).read();
  const lines = events.map((event) => `${write(spoilt(event) as RunEvent)}\n`);
  writeFileSync(join(to, 'events.jsonl'), lines.join(''));
  for (const file of readdirSync(to, { recursive: true, encoding: 'utf8' })) {
    const path = join(to, file);
    if (file.endsWith('.index.json') || file === 'state.json') rmSync(path);
    else if (file.endsWith('.json') && file.includes('/'))
      writeFileSync(path, JSON.stringify(withAgent(spoilt(JSON.parse(readFileSync(path, 'utf8'))))));
  }
}

/** Every payload, one below the other. */
const ALL_PAYLOADS = PAYLOADS.join('\n');

/** The first result of a file as that of an agent, with every payload in each of its texts: also in the names of files. */
function withAgent(content: unknown): unknown {
  if (!Array.isArray(content) || typeof content[0]?.hard !== 'number') return content;
  const changes = PAYLOADS.map((payload) => ({ path: `src/${payload}`, change: 'added', patch: payload }));
  const texts = { question: ALL_PAYLOADS, predicted_answer: ALL_PAYLOADS, fail_reason: ALL_PAYLOADS };
  const extras = { diff: { changes, leftOut: [ALL_PAYLOADS] }, verifierOutput: ALL_PAYLOADS };
  return [{ ...content[0], ...texts, extras }, ...content.slice(1)];
}

function spoilt(value: unknown, name = ''): unknown {
  if (SKILLS.includes(name)) return `${value}\n${ALL_PAYLOADS}\n`;
  if (typeof value === 'string') return TEXTS.includes(name) && value !== '' ? withPayload(value) : value;
  if (Array.isArray(value))
    return value.map((one) => (NAMES.includes(name) && typeof one === 'string' ? withPayload(one) : spoilt(one, name)));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, spoilt(entry, key)]));
}

/** The same text always gets the same payload: tasks are known by their names. */
function withPayload(text: string): string {
  const place = [...text].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 65_521, 7);
  return `${text} ${PAYLOADS[place % PAYLOADS.length]}`;
}
