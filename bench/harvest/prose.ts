import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const CORPUS_BYTES = 200e6;
const SEED = 20;

/** What people and agents say to each other. `{…}` is replaced by one of the words below. */
const ENGLISH = [
  'Could you look at {file} and tell me why the {thing} is {state} since we changed the {thing}?',
  'Please {verb} the {thing} so that the {thing} no longer depends on the {thing}.',
  'The tests for the {thing} fail on {os} with Node {number}, but they pass on my machine.',
  'I read {file} first, and the {thing} there is {state}, which explains what you see.',
  'When the {thing} is {state}, the {thing} waits for {number} seconds and then gives up without a word.',
  'We decided last week to {verb} the {thing}, because the old one took {number} ms for each request.',
  'Keep the answer short, and do not {verb} anything outside of `{file}`.',
  'I would rather {verb} the {thing} than add another option that nobody understands.',
  'That is not what I meant: the {thing} must stay {state} until the {thing} has been saved.',
  'It works now, thanks! Next, {verb} the {thing} in the same way.',
  'The user signs in with a {secret}, and the {thing} keeps it only for as long as the {thing} is open.',
  'Rotating the {secret} every {number} days is enough, as long as the {thing} never writes it to a log.',
  'There are {number} places where the {thing} is read, most of them in `{file}`, and one in a test helper.',
  'See https://docs.example.org/guides/{word}/{word}#{word} for how the {thing} is meant to be used.',
  'My guess: somebody renamed the {thing}, so the {thing} looks for a name that is gone.',
  '- **{thing}**: {state}; {verb} it together with the {thing}.',
  '{number}. Open `{file}`, find the {thing}, and check whether it is {state}.',
  'As the author of the {thing}, I think that a key point is missing: nobody tested what happens when it is {state}.',
];
const GERMAN = [
  'Kannst du bitte in {file} nachsehen, warum der Aufruf seit gestern so lange dauert?',
  'Schreib die Antwort bitte auf Deutsch, kurz und ohne Aufzählungen, und ändere nichts außerhalb von `{file}`.',
  'Das Passwort wird nirgends gespeichert; der Schlüssel liegt nur im Speicher, solange die Sitzung läuft.',
  'Ich habe die Prüfung nach vorne gezogen: Jetzt fällt der Fehler schon nach {number} Sekunden auf.',
  'Die Änderung betrifft {number} Dateien, die meisten davon sind Tests, die den alten Namen noch kannten.',
  'Nein, das stimmt nicht: Die Liste muss sortiert bleiben, auch wenn jemand einen Eintrag löscht.',
];
const CODE = [
  'const {word} = await load({ path: "{file}", retries: {number} });\nif ({word}.length === 0) return undefined;',
  'export function {verb}All({word}: readonly string[], limit = {number}): string[] {\n  return {word}.filter((one) => one !== "").slice(0, limit);\n}',
  'npm run build && npx vitest run {file} --reporter=dot\ngit commit -am "{verb} the {thing}"',
  'def {verb}({word}):\n    total = sum(item.price for item in {word})\n    return round(total, {number})',
];
const WORDS: Readonly<Record<string, readonly string[]>> = {
  thing: list(
    'cart total|retry queue|session store|login form|date picker|cache of the parser|search index|release script|error page|settings dialog|database migration|websocket handler|author list|design tokens|keyboard shortcut|password reset mail',
  ),
  state: list('empty|broken|out of date|read twice|never closed|slow|locked|shown too early|not translated'),
  verb: list('rename|split|simplify|rewrite|test|document|remove|cache|sort|validate|extract'),
  file: list(
    'src/cart/total.ts|README.md|lib/session_store.py|app/models/user.rb|docs/getting-started.md|test/login.test.ts|internal/queue/retry.go|.github/workflows/ci.yml',
  ),
  word: list('entries|rows|orders|routing|sessions|widgets|fixtures|layouts|releases|metrics'),
  os: list('Windows|macOS|Ubuntu 24.04|the build server'),
  secret: list('password|token|passkey|client secret|session cookie|API key'),
};
const SECRETS = [
  () => `Use OPENAI_API_KEY=sk-proj-${dense(40)} for the run.`,
  () => `The password for staging is "${dense(12)}!", please do not print it.`,
  () => `curl -H "Authorization: Bearer ${dense(48)}" https://api.example.org/v1/orders`,
  () => `DATABASE_URL=postgres://shop:${dense(16)}@db.internal:5432/shop`,
  () => `Mail it to maria.keller${dense(3)}@keller-shop.de, she has the rest.`,
  () => `aws_access_key_id = AKIA${dense(16).toUpperCase()}`,
];

function list(words: string): readonly string[] {
  return words.split('|');
}

let state = SEED;
/** Mulberry32: the same corpus on every machine. */
function random(): number {
  state = (state + 0x6d2b79f5) | 0;
  const once = Math.imul(state ^ (state >>> 15), 1 | state);
  const twice = (once + Math.imul(once ^ (once >>> 7), 61 | once)) ^ once;
  return ((twice ^ (twice >>> 14)) >>> 0) / 4_294_967_296;
}
const upTo = (most: number) => Math.floor(random() * most);
const oneOf = <Value>(values: readonly Value[]): Value => values[upTo(values.length)]!;
const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';
const dense = (length: number) => Array.from({ length }, () => LETTERS[upTo(LETTERS.length)]).join('');

const filled = (template: string) =>
  template.replace(/\{(\w+)\}/g, (whole, name: string) =>
    name === 'number' ? String(2 + upTo(600)) : WORDS[name] ? oneOf(WORDS[name]) : whole,
  );

/** Made once and put together at random: no two texts are alike, and the corpus is written within seconds. */
function sentencesOf(templates: readonly string[], many: number): readonly string[] {
  return Array.from({ length: many }, (_, at) => filled(templates[at % templates.length]!));
}

type Phrases = { readonly prose: readonly string[]; readonly code: readonly string[] };

function textOf({ prose, code }: Phrases, sentences: number): string {
  const said = Array.from({ length: sentences }, () => oneOf(prose) + (random() < 0.2 ? '\n\n' : ' '));
  if (random() < 0.02) said.push(`${oneOf(SECRETS)()} `);
  if (sentences > 5 && random() < 0.3) said.push(`\n\n\`\`\`ts\n${oneOf(code)}\n\`\`\`\n`);
  return said.join('').trim();
}

type Turn = { readonly prompt: string; readonly answer: string };

/** Half of the sessions are short, so that all of their texts are kept; a few are long. */
function turnsOf(phrases: Phrases): Turn[] {
  const many = random() < 0.5 ? 1 + upTo(5) : 6 + upTo(60);
  return Array.from({ length: many }, () => ({
    prompt: textOf(phrases, 1 + upTo(6)),
    answer: textOf(phrases, 3 + upTo(24)),
  }));
}

const momentOf = (session: number, turn: number) =>
  new Date(Date.UTC(2026, 0, 1) + session * 600_000 + turn * 20_000).toISOString();

function claudeRecords(session: number, turns: readonly Turn[]): object[] {
  const facts = { sessionId: `session-${session}`, cwd: `/home/ana/project-${session % 20}`, gitBranch: 'main' };
  return turns.flatMap(({ prompt, answer }, turn) => [
    { ...facts, type: 'user', timestamp: momentOf(session, turn), message: { role: 'user', content: prompt } },
    {
      ...{ ...facts, type: 'assistant', timestamp: momentOf(session, turn + 0.5) },
      message: { role: 'assistant', content: [{ type: 'text', text: answer }] },
    },
  ]);
}

function codexRecords(session: number, turns: readonly Turn[]): object[] {
  const meta = { id: `session-${session}`, cwd: `/home/ana/project-${session % 20}`, git: { branch: 'main' } };
  const said = turns.flatMap(({ prompt, answer }, turn) => [
    { timestamp: momentOf(session, turn), payload: { type: 'user_message', message: prompt } },
    { timestamp: momentOf(session, turn + 0.5), payload: { type: 'agent_message', message: answer } },
  ]);
  return [{ timestamp: momentOf(session, 0), type: 'session_meta', payload: meta }, ...said];
}

/** A home with 200 MB of prompts and answers in English and German, of two agents. Returns the number of sessions. */
export function writeProse(home: string): number {
  const prose = [...sentencesOf(ENGLISH, 6_000), ...sentencesOf(GERMAN, 1_200)];
  const phrases = { prose, code: sentencesOf(CODE, 400) };
  let [session, bytes] = [0, 0];
  for (; bytes < CORPUS_BYTES; session++) {
    const turns = turnsOf(phrases);
    const isClaude = session % 2 === 0;
    const folder = isClaude
      ? join('.claude', 'projects', `-home-ana-project-${session % 20}`)
      : join('.codex', 'sessions');
    mkdirSync(join(home, folder), { recursive: true });
    const records = isClaude ? claudeRecords(session, turns) : codexRecords(session, turns);
    const text = `${records.map((record) => JSON.stringify(record)).join('\n')}\n`;
    const path = join(home, folder, `session-${session}.jsonl`);
    writeFileSync(path, text);
    utimesSync(path, 1_767_225_600, 1_767_225_600); // long ago, so that the file is settled
    bytes += Buffer.byteLength(text);
  }
  return session;
}
