import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startFakeLLM } from 'skillopt/testing';
import { expect, it } from 'vitest';
import { plantedSecrets } from '../../support/corpora/secret-corpus.ts';
import { type SleepHome, sleepHome } from '../../support/sleep/sleep-home.ts';
import { TALK_WRITERS } from '../../support/sleep/sleep-sources.ts';
import type { Talk } from '../../support/talk-rows.ts';

const PLANTED = plantedSecrets();
const TURNS = 5;

/** Keys that tell what they are without a word beside them, for names. */
const NAMED = PLANTED.filter(({ secret }) =>
  /^(sk-|gh[pousr]_|github_pat_|xox[bp]-|hf_|glpat-|npm_)[\w-]{20,}$/.test(secret),
).map(({ secret }) => secret);
const nameAt = (at: number) => NAMED[at % NAMED.length]!;

const SOURCES = Object.keys(TALK_WRITERS);

/**
 * Planted texts as requests and as answers, five to a session, and keys in all names around them. The first source gets
 * them all; the others, whose texts take the same way, every fourth.
 */
function talksOf(source: string): Talk[] {
  const number = SOURCES.indexOf(source);
  const planted = number === 0 ? PLANTED : PLANTED.filter((_, at) => at % 4 === number % 4);
  return Array.from({ length: Math.ceil(planted.length / TURNS) }, (_, at) => ({
    id: `${source.replace(' ', '-')}-${at}-${at % 4 === 0 ? nameAt(at) : ''}`,
    cwd: `/srv/${nameAt(at + 1)}`,
    branch: `fix/${nameAt(at + 2)}`,
    tool: nameAt(at + 3),
    skill: nameAt(at + 4),
    file: `/srv/app/${nameAt(at + 5)}.txt`,
    output: planted[at]!.text,
    turns: planted.slice(at * TURNS, at * TURNS + TURNS).map(({ text }) => ({ asked: text, answered: text })),
  }));
}

const RUN = 12;

/** Every text of so many letters that is a part of a secret, as it stands and as JSON once or twice. */
function runsOf(secret: string): string[] {
  const escaped = (text: string) => JSON.stringify(text).slice(1, -1);
  const forms = [secret, escaped(secret), escaped(escaped(secret))];
  return forms.flatMap((form) =>
    form.length <= RUN ? [form] : Array.from({ length: form.length - RUN + 1 }, (_, at) => form.slice(at, at + RUN)),
  );
}

/** How most tokens begin: the name of an algorithm, which is no secret. */
const PUBLIC = Buffer.from('{"alg":"HS256","typ":"JWT"}').toString('base64url');

const RUNS = new Map(PLANTED.flatMap(({ kind, secret }) => runsOf(secret).map((run) => [run, `${kind}: ${secret}`])));
for (const run of runsOf(`${PUBLIC}.`)) RUNS.delete(run);
const SHORT = [...RUNS].filter(([run]) => run.length < RUN);

function secretsIn(text: string): Set<string> {
  const found = new Set<string>();
  for (let at = 0; at + RUN <= text.length; at += 1) {
    const secret = RUNS.get(text.slice(at, at + RUN));
    if (secret !== undefined) found.add(secret);
  }
  for (const [run, secret] of SHORT) if (text.includes(run)) found.add(secret);
  return found;
}

function bytesBelow(folder: string): string {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'utf8')).join('\n');
}

/** Everything that comes out of sleep: what is printed, kept and sent. */
async function everythingOf(home: SleepHome): Promise<Record<string, string>> {
  let asked = 0;
  await using server = await startFakeLLM(() => {
    asked += 1;
    return JSON.stringify({ tasks: [{ intent: `A task of its own with the number ${asked}`, rubric: 'It is good.' }] });
  });
  const model = `compatible:m@${server.baseURL}`;
  const much = ['--max-tasks', '5000', '--max-sessions', '5000', '--max-tokens-per-night', '1000000000'];
  const commands = [
    [],
    ['harvest', '--all-projects', '--output', 'tasks.json', ...much],
    ['run', '--plan', '--page', 'all', '--all-projects', '--target', model, ...much],
    ['harvest', '--with-model', '--all-projects', '--output', 'mined.json', '--optimizer', model, ...much],
  ];
  const printed: string[] = [];
  for (const argv of commands.flatMap((command) => [command, [...command, '--json']])) {
    const { code, out, err } = await home.run(argv);
    expect({ argv, code, err }).toEqual({ argv, code: 0, err: '' });
    printed.push(out);
  }
  return {
    printed: printed.join('\n'),
    kept: bytesBelow(home.state),
    files: bytesBelow(home.shop),
    sent: JSON.stringify(server.requests),
  };
}

it.each(SOURCES)('28: no planted secret gets out of transcripts of %s', async (source) => {
  using home = sleepHome();
  const talks = talksOf(source);
  TALK_WRITERS[source]!(home, talks);
  const everything = await everythingOf(home);
  const shown = Object.entries(everything).map(([where, text]) => [where, [...secretsIn(text)]]);
  expect(Object.fromEntries(shown)).toEqual({ printed: [], kept: [], files: [], sent: [] });
  // It was all read: what is missing was taken out, and not overlooked.
  const { sessions, pages } = JSON.parse(
    (await home.run(['run', '--plan', '--all-projects', '--json', '--target', 'simulated', '--max-sessions', '5000']))
      .out,
  );
  expect(sessions).toBeGreaterThan(talks.length * 0.9);
  expect(pages.length).toBeGreaterThan(talks.length * 0.8);
});

it('planted were hundreds, of twenty kinds', () => {
  expect(PLANTED.length).toBeGreaterThanOrEqual(200);
  expect(new Set(PLANTED.map(({ kind }) => kind)).size).toBeGreaterThanOrEqual(20);
  expect(NAMED.length).toBeGreaterThan(10);
});
