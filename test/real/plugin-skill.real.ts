import { beforeAll, describe, expect, it } from 'vitest';
import { addObservations, estimateGain, findLeaks, noEvidence } from '../../src/public/stats.ts';
import { percent, points, report, withInterval } from './figures.ts';
import { getModel } from './get-model.ts';
import { type LocalChat, localChat } from './local-chat.ts';
import { pluginSkillProposals } from './plugin-skill-proposals.ts';
import {
  CHOICES,
  descriptionOf,
  evenWeights,
  LAYOUTS,
  type LayoutName,
  pluginSkillEnv,
  start,
  test,
  train,
  truthOf,
  val,
} from './plugin-skill-task.ts';
import { passes } from './rollouts.ts';
import { type Step, type TrainerRun, trainerRun } from './trainer-run.ts';

/** The best on training messages; no other message was looked at for the choice. */
const LAYOUT: LayoutName = 'bare';

const file = await getModel();
const modelPath = file.missing === undefined ? file.path : '';
const openChat = (weights?: readonly number[]) =>
  localChat({ modelPath, choices: CHOICES, temperature: 0.7, ...(weights ? { weights } : {}) });

it('are proposals that keep the limit of a description and give no held-out message away', () => {
  const guard = (split: 'train' | 'val' | 'test', items: typeof train) =>
    items.map(({ id, query }) => ({ id, split, texts: [query], answers: [] }));
  const items = [...guard('train', train), ...guard('val', val), ...guard('test', test)];
  for (const { editFor } of pluginSkillProposals) {
    const { content } = editFor(start);
    expect(findLeaks({ edit: content, items, contract: [start] }).reason).toBeUndefined();
    expect(descriptionOf(start).length + content.length).toBeLessThan(1024);
  }
});

describe.skipIf(file.missing !== undefined)(`the shipped skill${file.missing ? ` (${file.missing})` : ''}`, () => {
  it('is asked about in the layout that says most about training messages', async () => {
    const scores: [name: string, score: number][] = [];
    const lines = ['| layout | true score on train | weight of yes |', '|---|---|---|'];
    for (const name of Object.keys(LAYOUTS) as LayoutName[]) {
      const weights = await evenWeights(openChat(), name);
      const { score } = await truthOf(openChat(weights), start, train, name);
      scores.push([name, score]);
      lines.push(`| ${name} | ${percent(score)} | ${weights[0]!.toFixed(3)} |`);
    }
    report('Layouts for the shipped skill', lines);
    expect(scores.sort(([, a], [, b]) => b - a)[0]![0]).toBe(LAYOUT);
  });

  describe('in whole runs', () => {
    let chat: LocalChat;

    beforeAll(async () => {
      chat = openChat(await evenWeights(openChat(), LAYOUT));
    }, 3_600_000);

    it.each([0, 1])('run %i: what it claims holds on messages it has never seen', async (number) => {
      const run = await trainerRun({
        target: chat,
        proposals: startingWith(number * 12),
        number,
        env: pluginSkillEnv(LAYOUT),
        config: { parts: ['description'] },
      });
      const onTest = await gainOnTest(run);
      report(`Shipped skill, run ${number}`, await describeRun(run, onTest));
      if (run.final.isClaimed) expect(onTest.interval.low).toBeGreaterThan(0);
      expect(run.steps.filter((step) => step.isAccepted && step.proposal.intent === 'harmful')).toEqual([]);
    });

    /** A run asks for twelve proposals at most: the second one begins in the middle of the list. */
    const startingWith = (first: number) => [
      ...pluginSkillProposals.slice(first),
      ...pluginSkillProposals.slice(0, first),
    ];

    const truth = (skill: string, items: typeof val) => truthOf(chat, skill, items, LAYOUT);

    /** Draws of their own, three of each message under each description. */
    async function gainOnTest({ skill }: TrainerRun) {
      const samples = { from: 0, count: 3, env: pluginSkillEnv(LAYOUT) };
      const evidenceOf = async (text: string) => addObservations(noEvidence, await passes(chat, text, test, samples));
      return estimateGain(await evidenceOf(skill), await evidenceOf(start))!;
    }

    async function describeRun(run: TrainerRun, onTest: Awaited<ReturnType<typeof gainOnTest>>) {
      const { steps, skill, rollouts, leaks, final, tests, end } = run;
      const claim = final.gain
        ? `${withInterval(final.gain)}, ${final.isClaimed ? 'claimed' : 'not proven'}`
        : 'the shipped description won';
      const lines = [
        `${steps.length} steps, ${rollouts} rollouts in all, ${leaks} leaks refused;`,
        `final measurement: ${claim};`,
        `the gate believes ${percent(end.believed)} on validation, true are ${percent((await truth(end.skill, val)).score)};`,
        `the run's own test: ${tests.baseline ? percent(tests.baseline.hard) : '–'} → ${tests.best ? percent(tests.best.hard) : '–'};`,
        `test, ${test.length} messages, 3 passes each: ${withInterval(onTest)};`,
      ];
      for (const [name, items] of Object.entries({ validation: val, test })) {
        const [before, after] = [await truth(start, items), await truth(skill, items)];
        for (const figure of ['score', 'falsePositives', 'falseNegatives'] as const) {
          lines.push(`${name}, true ${figure}: ${percent(before[figure])} → ${percent(after[figure])};`);
        }
      }
      return [...lines, '', descriptionOf(skill), '', ...(await stepTable(steps))];
    }

    async function stepTable(steps: readonly Step[]): Promise<string[]> {
      const rows: string[] = [];
      for (const [index, { proposal, outcome, isDecided, rollouts, candidate, incumbent }] of steps.entries()) {
        const change = async () => (await truth(candidate, val)).score - (await truth(incumbent, val)).score;
        const shown = isDecided ? points(await change()) : '';
        rows.push(`| ${index + 1} | ${proposal.name} | ${proposal.intent} | ${outcome} | ${rollouts} | ${shown} |`);
      }
      const head = '| step | proposal | meant as | verdict | rollouts | true change on validation, points |';
      return [head, '|---|---|---|---|---|---|', ...rows];
    }
  });
});
