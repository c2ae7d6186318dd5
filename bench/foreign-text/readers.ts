import { createTwoFilesPatch } from 'diff';
import { agentClis, agentError } from '../../src/agents/index.ts';
import { isOutOfCredit } from '../../src/core/contracts/index.ts';
import {
  applyPatch,
  findRegions,
  isSaidIn,
  keepProtected,
  mergeNotes,
  newLinesOf,
  readBlock,
  readNotes,
  withoutMarkers,
  writeBlock,
  writeNotes,
} from '../../src/core/document/index.ts';
import { hideSecrets } from '../../src/core/guard/index.ts';
import { isTellingId, numbersIn } from '../../src/core/guard/leaks/guarded-item.ts';
import { checkRuleJudge, RULE_OPS, scoreByRule, scoreExact } from '../../src/core/judge/index.ts';
import { OPERATORS } from '../../src/core/judge/rule-operators.ts';
import { extractJson, nearDuplicateGroups, skillHash, strip, toCamelCase } from '../../src/core/text/index.ts';
import { extractAnswer, scoreAnswer } from '../../src/envs/index.ts';
import { readJson, readJsonl } from '../../src/imports/readers.ts';
import { jsonObjects } from '../../src/judges/judge-answer.ts';
import { readRateLimit, retryAfterMs } from '../../src/models/ai-sdk/rate-limit-headers.ts';
import { toModelCallError } from '../../src/models/ai-sdk/to-model-call-error.ts';
import { sliceText } from '../../src/models/tokens/count-tokens.ts';
import { failurePatterns, repairJson } from '../../src/pipeline/index.ts';
import { renderTrajectory } from '../../src/pipeline/reflect/trajectory.ts';
import { findLeaks } from '../../src/public/stats.ts';
import { clip as clipLine, textWidth } from '../../src/report/index.ts';
import { lintSkill } from '../../src/skills/index.ts';
import { relativeLinks } from '../../src/skills/read-skill.ts';
import { TaskRecord } from '../../src/sleep/index.ts';
import { short, withoutQuotes } from '../../src/sleep/mine/heuristic-miner.ts';
import { filterForTarget } from '../../src/sleep/mine/mine-tasks.ts';
import { parseTasksFile } from '../../src/sleep/tasks-file.ts';
import { withoutRepeats } from '../../src/train/step/guard-edits.ts';
import { SessionCollector } from '../../src/transcripts/session-collector.ts';
import { withoutPreamble } from '../../src/transcripts/sources/codex.ts';

type Reader = (text: string) => unknown;

/** Two tasks that hold a text, and one that does not. */
const tasksWith = (text: string) => [
  { id: text.slice(0, 40), split: 'val' as const, texts: [text], answers: [text.slice(0, 20), 'Paris'] },
  { id: 'b', split: 'val' as const, texts: [`${text} and`], answers: ['Rome'] },
  { id: 'c', split: 'train' as const, texts: ['What is the capital of France?'], answers: ['Paris'] },
];

const leaks: Readonly<Record<string, Reader>> = {
  'findLeaks, edit': (edit) => findLeaks({ edit, items: tasksWith('The quick brown fox'), contract: ['a'] }),
  'findLeaks, tasks': (text) =>
    findLeaks({ edit: 'Paris is the capital', items: tasksWith(text.slice(0, text.length / 2)) }),
  'findLeaks, skill': (text) =>
    findLeaks({ edit: 'Paris is the capital', items: tasksWith('x y z'), contract: [text] }),
  'findLeaks, all': (text) => {
    const part = text.slice(0, text.length / 4); // it is there four times
    return findLeaks({ edit: part, items: tasksWith(part), contract: [part] });
  },
};

const refused = (statusCode: number, responseBody: string) =>
  toModelCallError(
    { statusCode, responseBody, message: responseBody, responseHeaders: { 'retry-after': responseBody } },
    { who: 'model at host', endpoint: undefined },
    { prompt: [], responseFormat: { type: 'json' } },
  );

const servers: Readonly<Record<string, Reader>> = {
  ...Object.fromEntries(
    [200, 400, 401, 413, 429, 500].map((status) => [`status ${status}`, (text: string) => refused(status, text)]),
  ),
  'status 400 with a message': (text) => refused(400, JSON.stringify({ error: { message: text } })),
  'status 500 with a page': (text) => refused(500, `<html>${text}`),
  'rate-limit headers': (text) =>
    readRateLimit({
      'x-ratelimit-remaining-requests': '0',
      'x-ratelimit-reset-requests': text,
      'ratelimit-remaining': text,
    }),
  'retry-after': (text) => retryAfterMs({ 'retry-after': text, 'retry-after-ms': text }),
  isOutOfCredit,
};

const clis = Object.values(agentClis).flatMap((cli): [string, Reader][] => [
  [`${cli.name}, output`, (text) => cli.read({ stdout: text, stderr: text })],
  [`${cli.name}, a line`, (text) => cli.refusalIn?.(text)],
]);

const agents: Readonly<Record<string, Reader>> = {
  agentError: (words) => agentError({ cli: agentClis['codex-cli'], id: 'codex', words, env: { MY_KEY: 'of-my-own' } }),
  ...Object.fromEntries(clis),
};

const replies: Readonly<Record<string, Reader>> = {
  extractJson,
  'toCamelCase of it': (text) => toCamelCase(extractJson(text)),
  'repair of JSON': (text) => repairJson(`{"edits": [${text}`),
  jsonObjects,
  extractAnswer,
  scoreAnswer: (text) => scoreAnswer(text, ['Paris', text]),
  renderTrajectory: (text) =>
    renderTrajectory(
      { id: text, hard: 0, soft: 0, failReason: text, conversation: [{ role: 'a', content: text }] },
      5000,
    ),
  failurePatterns: (text) => failurePatterns([{ id: 'a', hard: 0, soft: 0, failReason: text }], []),
  sliceText,
  hideSecrets,
};

const documents: Readonly<Record<string, Reader>> = {
  'applyPatch, content': (content) => applyPatch('# a\n', { edits: [{ op: 'append', content }] }),
  'applyPatch, target': (target) => applyPatch(target, { edits: [{ op: 'insert_after', target, content: 'x' }] }),
  'applyPatch, skill': (skill) => applyPatch(skill, { edits: [{ op: 'delete', target: skill.slice(5, 50) }] }),
  findRegions,
  withoutMarkers,
  readBlock: (text) => readBlock(text, 'appendix'),
  writeBlock: (text) => writeBlock(text, 'appendix', text),
  keepProtected: (text) => keepProtected(text, text),
  readNotes,
  writeNotes: (text) => writeNotes(text, [text]),
  mergeNotes: (text) => mergeNotes([], text.split('\n')),
  isSaidIn: (text) => isSaidIn(text, text),
  newLinesOf: (text) => newLinesOf(text, text),
  withoutRepeats: (content) =>
    withoutRepeats({ edits: [{ op: 'replace', content, target: content }], reasoning: '' }, content),
  strip,
  skillHash,
  lintSkill: (text) => lintSkill({ folderName: 'a', text }),
  'lintSkill, frontmatter': (text) => lintSkill({ folderName: 'a', text: `---\nname: ${text}\n---\n` }),
  relativeLinks,
  diff: (text) =>
    createTwoFilesPatch('a', 'b', text, [...text].reverse().join(''), undefined, undefined, { maxEditLength: 1_000 }),
};

const answers: Readonly<Record<string, Reader>> = {
  isTellingId,
  numbersIn,
};

const argOf = { text: 'Key Risks', pattern: '^(?i:a+)+$', bound: 5, nothing: null };
const PATTERNS = ['^(a+)+$', '(x+x+)+y', '[ab ]*a[ab ]{20}c', '(?i)(\\w+\\s*)+;', 'a{1900}a{1900}b'];

const judged: Readonly<Record<string, Reader>> = {
  ...Object.fromEntries(
    RULE_OPS.map((op) => [
      `rule ${op}`,
      (text: string) => scoreByRule(text, [{ op, arg: argOf[OPERATORS[op].takes] }]),
    ]),
  ),
  ...Object.fromEntries(
    PATTERNS.map((arg) => [`rule regex ${arg}`, (text: string) => scoreByRule(text, [{ op: 'regex', arg }])]),
  ),
  'rule, a foreign pattern': (arg) => checkRuleJudge({ checks: [{ op: 'regex', arg }] }),
  'rule, a foreign word': (arg) => scoreByRule(`${arg}${arg}`.slice(1), [{ op: 'contains', arg }]),
  'rule, a foreign section': (text) =>
    scoreByRule(text, [{ op: 'section_present', arg: text.slice(0, 300).trim() || 'a' }]),
  'exact, reference and answer': (text) => scoreExact(text, `${text.slice(1)}x`),
};

const printed: Readonly<Record<string, Reader>> = {
  textWidth,
  'clip of a line': (text) => clipLine(text, 80),
};

const mined: Readonly<Record<string, Reader>> = {
  short: (text) => short(text, 800),
  withoutQuotes,
  filterForTarget: (text) =>
    filterForTarget([TaskRecord.parse({ id: 'a', project: '', intent: text })], {
      path: 'a/SKILL.md',
      text: `# ${text}`,
    }),
  nearDuplicateGroups: (text) => nearDuplicateGroups([text, `${text} and`, text.slice(1)]),
};

/** What is wrong with a file of tasks is said by an exception. */
const files = Object.fromEntries(
  Object.entries({ readJsonl, readJson, parseTasksFile }).map(([name, read]): [string, Reader] => [
    name,
    (text) => {
      try {
        return read(text, 'tasks');
      } catch {
        return undefined;
      }
    },
  ]),
);

/** Everything in `src` that goes through a text of a model, a server, a file or an agent. */
const NOTICE = '<system-reminder></system-reminder>';
const PREAMBLE = '<environment_context></environment_context>';

/** A session in which a text is said by everybody. */
function collect(text: string) {
  const session = new SessionCollector({
    source: 'x',
    rawPath: text,
    place: { env: {}, home: '/home/ana', platform: 'linux' },
  });
  for (const said of ['Hello there', text, text.replaceAll('a', NOTICE).slice(0, text.length)]) session.userSaid(said);
  session.assistantSaid(text);
  session.usedTool(text, { path: text });
  session.touchedFile(text);
  return session.digest();
}

const transcripts: Readonly<Record<string, Reader>> = {
  collectSession: collect,
  withoutPreamble: (text) => withoutPreamble(PREAMBLE.repeat(text.length / PREAMBLE.length) + text),
};

export const readers: Readonly<Record<string, Reader>> = {
  ...leaks,
  ...servers,
  ...agents,
  ...replies,
  ...documents,
  ...answers,
  ...judged,
  ...printed,
  ...mined,
  ...files,
  ...transcripts,
};
