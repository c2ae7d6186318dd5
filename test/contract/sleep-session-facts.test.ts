import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  assignSplits,
  dreamTasks,
  groupByHint,
  heuristicTask,
  loadSleepSettings,
  recallTasks,
  resolveFractions,
  type SleepSettings,
  scopeTest,
  TaskRecord,
} from '../../src/sleep/index.ts';
import { heuristicTaskId, minedTaskId, short } from '../../src/sleep/mine/heuristic-miner.ts';
import { toMinedTask } from '../../src/sleep/mine/model-miner.ts';
import { dedupeTasks } from '../../src/sleep/splits.ts';
import { feedbackReader } from '../../src/transcripts/filters/feedback.ts';
import { isAgentSession, isHeadless, promptOf } from '../../src/transcripts/filters/filters.ts';
import { findSource, SessionDigest } from '../../src/transcripts/index.ts';
import { SessionCollector } from '../../src/transcripts/session-collector.ts';
import { withoutPreamble } from '../../src/transcripts/sources/codex.ts';
import { operationLog } from '../../src/transcripts/sources/copilot.ts';
import { type Fact, holdFacts } from '../support/sleep/facts.ts';
import { tempFolder } from '../support/temp-folder.ts';

const isMeta = (text: string) => promptOf(text) === '';
const moment = (seconds: string) => `2026-01-01T00:00:${seconds}Z`;
const digest = (facts: Partial<SessionDigest>) => SessionDigest.parse({ source: 'claude', sessionId: 's', ...facts });
const asked = (prompt: string, from: string, to: string, nUserTurns = 1) =>
  isHeadless(digest({ nUserTurns, userPrompts: [prompt], startedAt: from, endedAt: to }));
const feedback = feedbackReader({});

holdFacts('requests and feedback', [
  ...(
    [
      ['/a b c', true],
      ['/review my auth code please now', false],
      ['<a> hello', false],
      ['<a>b</a>', true],
      ['   ', true],
      ['Caveat: x', true],
      ['# /x', true],
      [`${'x'.repeat(100)}<command-name>a`, true],
      [`${'x'.repeat(200)}<command-name>a`, false],
    ] as const
  ).map(([text, expected]): Fact => [`${text.slice(0, 30)} is no request`, () => isMeta(text), expected]),
  ['two turns', () => asked('x', moment('00.000'), moment('01.000'), 2), false],
  ['no turn', () => asked('', moment('00.000'), moment('01.000'), 0), true],
  ['seconds are cut', () => asked('x', moment('00.900'), moment('02.100')), true],
  ['three seconds', () => asked('x', moment('00.000'), moment('03.000')), false],
  ['200 characters', () => asked('x'.repeat(200), moment('00.000'), moment('01.000')), false],
  ['150 emoji', () => asked('😀'.repeat(150), moment('00.000'), moment('01.000')), true],
  ['no times', () => asked('x', '', ''), false],
  ['a marker of an agent', () => isAgentSession('do my thing', { SKILLOPT_SLEEP_AGENT_MARKERS: 'x, MY THING' }), true],
  ['incorrect', () => feedback('that is incorrect'), ['neg:incorrect', 'pos:correct'], 'feedback words'],
  ['not fixed', () => feedback('not fixed yet'), ['neg:not fixed', 'pos:fixed'], 'feedback words'],
  ['an own phrase', () => feedbackReader({ SKILLOPT_SLEEP_NEG_FEEDBACK: 'meh' })('it is meh today'), ['neg:meh']],
]);

const place = { env: {}, home: '/home/ana', platform: 'linux' } as const;

function collected(fill: (session: SessionCollector) => void) {
  const session = new SessionCollector({ source: 'claude', rawPath: '/x', place });
  fill(session);
  return session.digest();
}

const logged = (...records: readonly Record<string, unknown>[]) => {
  const log = operationLog();
  for (const record of records) log.take(structuredClone(record));
  return log.state();
};
const STATE = { kind: 0, v: { r: [1, 2, 3], t: 't', d: 1 } };

const inScope = async (scope: readonly string[], project: string) => (await scopeTest(scope, place))(project);

holdFacts('sessions', [
  ['only an answer', () => collected((one) => one.assistantSaid('a'))?.nUserTurns, 0],
  ['only a command', () => collected((one) => one.userSaid('/clear')), undefined],
  [
    'the last five answers',
    () =>
      collected((one) => {
        for (const text of 'abcdefgh') one.assistantSaid(text);
      })?.assistantFinals,
    [...'defgh'],
  ],
  [
    'names of tools',
    () =>
      collected((one) => {
        one.userSaid('x');
        one.usedTool('exec command!');
        one.usedTool('mcp_tool_call');
      })?.toolsUsed,
    ['exec_command_', 'mcp_tool_call'],
  ],
  [
    'a preamble and a request',
    () => withoutPreamble('# AGENTS.md instructions for /p\n<INSTRUCTIONS>x</INSTRUCTIONS>\ndo it'),
    'do it',
  ],
  ['only a preamble', () => withoutPreamble('<environment_context>x</environment_context>'), ''],
  ['append and cut', () => logged(STATE, { kind: 2, k: ['r'], i: 1, v: [7] }).r, [1, 7]],
  [
    'set and delete',
    () => logged(STATE, { kind: 1, k: ['t'], v: 'T' }, { kind: 3, k: ['d'] }),
    { r: [1, 2, 3], t: 'T' },
  ],
  ['delete in a list', () => logged(STATE, { kind: 3, k: ['r', 0] }).r, [2, 3]],
  ['a bad index', () => logged(STATE, { kind: 2, k: ['r'], i: 99, v: [7] }).r, [1, 2, 3]],
  ['a change before the state', () => logged({ kind: 1, k: ['a'], v: 1 }, STATE).a, undefined],
  ['a folder of the project', () => inScope(['/a'], '/a/b'), true],
  ['a folder with a longer name', () => inScope(['/a/b'], '/a/bc'), false],
  ['a folder above', () => inScope(['/a/b'], '/a'), true, 'sessions of a project'],
  ['an unknown source', () => attempt(() => findSource('nonsense').name), 'claude', 'sources'],
]);

function attempt(what: () => unknown): unknown {
  try {
    return what();
  } catch (error) {
    return (error as Error).message;
  }
}

const record = (fields: Record<string, unknown>) =>
  TaskRecord.parse({ project: '/p', intent: `do ${fields.id}`, ...fields });
const splitsOf = (count: number, valFraction: number, testFraction = 0) => {
  const intents = [
    'bake bread',
    'fix login',
    'draw maps',
    'sort mail',
    'plan trips',
    'write odes',
    'count sheep',
    'tune pianos',
  ];
  const tasks = intents.slice(0, count).map((intent, at) => record({ id: `t${at}`, intent }));
  const split = assignSplits(tasks, { valFraction, testFraction, seed: 42 });
  return Object.fromEntries(split.filter((one) => one.split !== 'train').map((one) => [one.id, one.split]));
};
const outcome = (nUserTurns: number, ...feedbackSignals: string[]) =>
  heuristicTask(digest({ userPrompts: ['a long request'], nUserTurns, feedbackSignals }))?.outcome;
const mined = (fields: object) => toMinedTask(fields, digest({ project: '/p' }));

holdFacts('tasks and splits', [
  [
    'ids',
    () => [heuristicTaskId('/p', 'fix it'), minedTaskId('/p', 'gather context')],
    ['task_6aa51742a7f1', 'llm_08edd39100c1'],
  ],
  ['cut texts', () => [short('abcdef', 3), short('😀😀', 1)], ['abc …', '😀 …']],
  ['a third', () => splitsOf(8, 0.34), { t0: 'val', t3: 'val' }],
  ['a third and a tenth', () => splitsOf(5, 0.34, 0.1), { t0: 'val', t1: 'test', t2: 'test', t3: 'val' }],
  ['nothing held out', () => splitsOf(3, 0), { t1: 'val' }],
  ['nothing to learn from', () => splitsOf(4, 0.995).t1, undefined],
  ['one task', () => splitsOf(1, 0.34), { t0: 'val' }],
  ['half of a hundredth', () => splitsOf(3, 0.005), { t1: 'val' }],
  [
    'all held out',
    () => attempt(() => resolveFractions({ valFraction: 0.5, testFraction: 0.5 })) instanceof Object,
    false,
  ],
  [
    'older names',
    () => [record({ id: 'a', split: 'replay' }).split, record({ id: 'b', split: 'holdout' }).split],
    ['train', 'val'],
  ],
  ['unknown keys', () => 'odd' in record({ id: 'a', odd: 1 }), false],
  [
    'outcomes',
    () => [outcome(1, 'pos:x'), outcome(1, 'neg:x'), outcome(3), outcome(2)],
    ['success', 'fail', 'mixed', 'unknown'],
  ],
  ['blame, then praise', () => outcome(1, 'neg:x', 'pos:y'), 'fail', 'outcome'],
  ['a short request', () => heuristicTask(digest({ userPrompts: ['fix it'] })), undefined],
  [
    'the same task twice',
    () =>
      dedupeTasks([
        record({ id: 'a', sourceSessions: ['1'], outcome: 'fail', skillHint: 'x' }),
        record({ id: 'a', sourceSessions: ['3'], outcome: 'success', skillHint: 'y' }),
      ]).map((one) => [one.sourceSessions, one.outcome, one.skillHint]),
    [[['1', '3'], 'success', '']],
  ],
  [
    'hints of a task',
    () =>
      groupByHint([
        record({ id: 'a', skillHint: 'x' }),
        record({ id: 'a' }),
        record({ id: 'b', skillHint: ' y ' }),
      ]).map(({ skillHint }) => skillHint),
    ['', 'y'],
  ],
  [
    'a rubric beats checks',
    () => mined({ intent: 'write a text', rubric: 'short', checks: [{ op: 'contains', arg: 'x' }] })?.referenceKind,
    'rubric',
  ],
  [
    'sound checks stay',
    () =>
      mined({
        intent: 'write a text',
        checks: [
          { op: 'max_chars', arg: '10' },
          { op: 'max_chars', arg: -1 },
          { op: 'regex', arg: ' x ' },
          { op: 'contains', arg: ' y ' },
        ],
      })?.judge,
    {
      checks: [
        { op: 'max_chars', arg: 10 },
        { op: 'regex', arg: ' x ' },
        { op: 'contains', arg: 'y' },
      ],
    },
  ],
  ['neither', () => mined({ intent: 'write a text' }), undefined],
  ['not satisfied, or not known', () => mined({ intent: 'write a text', rubric: 'x' })?.outcome, 'fail', '`satisfied`'],
  [
    'dreams',
    () => dreamTasks([record({ id: 'a' })], 4).map(({ id }) => id),
    ['a_dream0', 'a_dream1', 'a_dream2', 'a_dream3'],
  ],
  [
    'recall',
    () =>
      recallTasks(
        [record({ id: 'h1', intent: 'sort my mail' }), record({ id: 'h2', intent: 'sort my mail', split: 'val' })],
        [record({ id: 't', intent: 'sort the post' })],
        2,
      ).map(({ id, split }) => [id, split]),
    [['recall:h1', 'train']],
  ],
  [
    'an unknown split',
    () => TaskRecord.safeParse({ id: 'a', project: '', intent: '', split: 'weird' }).success,
    true,
    'an unknown split',
  ],
  [
    'the kind answer',
    () => TaskRecord.safeParse({ id: 'a', project: '', intent: '', reference_kind: 'answer' }).success,
    true,
    'tasks file: `reference_kind: answer`',
  ],
]);

async function imported(config: object) {
  using home = tempFolder({ 'app/.keep': '', 'state/.keep': '' });
  mkdirSync(join(home.path, '.skillopt-sleep'));
  writeFileSync(join(home.path, '.skillopt-sleep/config.json'), JSON.stringify(config));
  const own = {
    place: { ...place, home: home.path },
    project: join(home.path, 'app'),
    stateFolder: join(home.path, 'state'),
  };
  try {
    return (await loadSleepSettings(own)).settings;
  } catch {
    return {} as SleepSettings;
  }
}

holdFacts('settings', [
  ...(['off', 'none', 'false', 'greedy', false] as const).map(
    (word): Fact => [`gate_mode ${word}`, async () => (await imported({ gate_mode: word })).gateMode, 'off'],
  ),
  ['another gate_mode', async () => (await imported({ gate_mode: 'strict' })).gateMode, 'on', 'words for no gate'],
  [
    'a database of another name',
    async () => (await imported({ opencode_db: '/x/other.db' })).homes?.opencode,
    '/x/other.db',
  ],
  ['val_fraction wins', async () => (await imported({ val_fraction: 0.5, holdout_fraction: 0.1 })).valFraction, 0.5],
  ['holdout_fraction', async () => (await imported({ holdout_fraction: 0.1 })).valFraction, 0.1],
  [
    'limits',
    async () =>
      (({ lookbackHours, maxTasksPerNight, editBudget, seed }) => [lookbackHours, maxTasksPerNight, editBudget, seed])(
        await imported({}),
      ),
    [72, 40, 4, 42],
  ],
  ['the source', async () => (await imported({})).source, 'claude', 'sources'],
  ['recall', async () => (await imported({})).recallK, 0, 'recall'],
  ['several skills', async () => (await imported({})).multiSkillFanout, false, 'default'],
  [
    'a weight outside 0 to 1',
    async () => (await imported({ gate_mixed_weight: 2 })).gateMixedWeight,
    1,
    'weight of the mixed metric',
  ],
]);
