import fc from 'fast-check';
import { startFakeLLM } from 'skillopt/testing';
import { expect, it } from 'vitest';
import { hostileText } from '../../support/hostile-text.ts';
import { answerOf, sleepHome } from '../../support/sleep/sleep-home.ts';
import { TALK_WRITERS } from '../../support/sleep/sleep-sources.ts';
import type { Talk } from '../../support/talk-rows.ts';

const word = fc.stringMatching(/^[a-z]{3,9}$/);
const sentence = fc.array(word, { minLength: 1, maxLength: 120 }).map((words) => words.join(' '));
const fenced = sentence.map((text) => `\`\`\`js\n${text}\n\`\`\``);
const quoted = sentence.map((text) => `> ${text}`);
const text = fc
  .array(fc.oneof(sentence, fenced, quoted, hostileText, fc.string({ unit: 'grapheme' })), {
    minLength: 1,
    maxLength: 4,
  })
  .map((parts) => parts.join('\n'));
const turn = fc.record({ asked: text, answered: text });
const name = fc.stringMatching(/^[a-z]{14,20}$/);
const talks = fc.array(
  fc.record({
    branch: name,
    tool: name,
    skill: name,
    file: name.map((one) => `/srv/app/${one}.ts`),
    output: name,
    folder: name,
    turns: fc.array(turn, { minLength: 1, maxLength: 9 }),
  }),
  { minLength: 1, maxLength: 4 },
);

const RUN = 12;
const runsOf = (one: string) =>
  Array.from({ length: Math.max(0, one.length - RUN + 1) }, (_, at) => one.slice(at, at + RUN));
const markOf = (at: number) => `Please do the work that is called mark-${at}-of-this-session`;

type Page = { readonly sessionId: string; readonly texts: readonly string[] };

/** What was sent of a session and does not stand on its page, and what must never be sent. */
function notOnPage(
  sent: string,
  { turns, branch, tool, skill, file, output, cwd }: Talk,
  page: Page | undefined,
): string[] {
  const shown = page?.texts.map((one) => `\n${one}\n`).join('\0') ?? ''; // As lines of their own, which they are in a prompt.
  const said = new Set(turns.flatMap(({ asked, answered }) => [asked, answered].flatMap(runsOf)));
  const unseen = runsOf(sent).filter((run) => said.has(run) && !shown.includes(run));
  return [...unseen, ...[branch, tool, skill, file, output, cwd].filter((one) => sent.includes(one))];
}

it.each(['claude', 'codex', 'copilot-cli'])(
  'what a model is sent of a session of %s stands on the page of the plan',
  async (source) => {
    await fc.assert(
      fc.asyncProperty(talks, async (drawn) => {
        using home = sleepHome();
        await using server = await startFakeLLM(() => '{"tasks":[]}');
        const all = drawn.map(({ folder, turns, ...rest }, at) => {
          const opening = { asked: markOf(at), answered: 'It is done now.' };
          return { ...rest, id: `id-${at}`, cwd: `/srv/${folder}`, turns: [opening, ...turns] };
        });
        TALK_WRITERS[source]!(home, all);
        const model = `compatible:m@${server.baseURL}`;
        const { pages } = await answerOf(home, ['run', '--plan', '--all-projects', '--target', model]);
        await answerOf(home, ['harvest', '--with-model', '--all-projects', '--optimizer', model]);
        const sent = server.requests.map(({ messages }) => messages.at(-1)!.content);
        for (const [at, talk] of all.entries()) {
          const own = sent.filter((one) => one.includes(markOf(at)));
          const page = (pages as Page[]).find(({ sessionId }) => sessionId === talk.id);
          expect(own.flatMap((one) => notOnPage(one, talk, page))).toEqual([]);
        }
        expect(sent.length).toBe(pages.length);
      }),
      { numRuns: 6, endOnFailure: true },
    );
  },
);
