import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startFakeLLM } from 'skillopt/testing';
import { runCli } from '../../../src/cli/index.ts';
import { captureIo } from '../../support/capture-io.ts';
import { startSimOverHttp } from '../../support/sim-over-http.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { worldFiles } from '../project.ts';

/** A run from start to end in a folder of its own, by the commands that a person types. */
type FixtureRun = { readonly name: string; readonly play: () => Promise<Played> };

type Played = {
  readonly code: number;
  /** What `train` showed on a terminal of 80 columns, with its colours. */
  readonly shown: string;
  /** What a pipe got from `show` afterwards. */
  readonly piped: string;
  readonly reportPage: string;
  readonly listed: string;
};

async function play(files: Record<string, string>, command = 'train --quiet'): Promise<Played> {
  using folder = tempFolder(files);
  const cli = async (line: string, columns?: number) => {
    const env = { FAR_KEY: 'dummy-key', ...(columns === undefined ? {} : { FORCE_COLOR: '1' }) };
    const io = captureIo({ cwd: folder.path, env, ...(columns === undefined ? {} : { columns, isTTY: true }) });
    return { code: await runCli(line.split(' '), io), out: io.out() };
  };
  const { code, out: shown } = await cli(command, 80);
  const [piped, listed] = [(await cli('show run')).out, (await cli('runs')).out];
  return { code, shown, piped, reportPage: readFileSync(join(folder.path, 'runs/run/report.md'), 'utf8'), listed };
}

const simulated = { target: 'simulated', optimizer: 'simulated', workers: 4 };
const brief = { numEpochs: 1, batchSize: 12, ...simulated };
const atFarSide = (model: string, baseURL: string) => ({
  provider: 'compatible',
  model,
  baseURL,
  apiKeyEnv: 'FAR_KEY',
});

/** Invoices: the house wants a currency before the amount in all tasks of training and validation, and in few of the test. */
function invoiceFiles(baseURL: string): Record<string, string> {
  const row = (split: string, count: number, isPlain: (at: number) => boolean) =>
    Array.from({ length: count }, (_, at) => {
      const amount = `${20 + at}.${split.length}0`; // not the amount of an invoice in another split
      const answers = [isPlain(at) ? amount : `USD ${amount}`];
      return JSON.stringify({
        id: `${split}-${at}`,
        question: `What does invoice ${split}-${at} come to? (${amount})`,
        answers,
        split,
      });
    });
  const rows = [
    ...row('train', 12, () => false),
    ...row('val', 20, (at) => at % 5 === 0),
    ...row('test', 30, (at) => at % 5 !== 0),
  ];
  const config = {
    name: 'run',
    tasks: 'tasks.jsonl',
    skill: 'SKILL.md',
    ...{ numEpochs: 1, batchSize: 12, workers: 4 },
    target: atFarSide('clerk', baseURL),
    optimizer: atFarSide('reader', baseURL),
    prices: { clerk: { input: 0.4, cachedInput: 0.1, output: 1.6 }, reader: { input: 2, cachedInput: 0.5, output: 8 } },
  };
  return {
    'tasks.jsonl': rows.join('\n'),
    'SKILL.md': '# Invoices\n\nAnswer with the amount.\n',
    'skillopt.config.json': JSON.stringify(config),
  };
}

const EDITS = {
  reasoning: '',
  edits: [{ op: 'append', content: '- Write the currency before every amount, such as USD 12.00.' }],
};

/** A clerk who does what the skill says, and a reader of results who learns from the tasks that it sees. */
const startInvoices = () =>
  startFakeLLM(({ model, messages }) => {
    if (model === 'reader') return JSON.stringify({ ...EDITS, patch: EDITS, selected_indices: [0] });
    const amount = /\((\d+\.\d+)\)/.exec(messages.at(-1)!.content)?.[1] ?? '';
    const isStyled = messages.some(({ content }) => content.includes('currency before every amount'));
    return `<answer>${isStyled ? 'USD ' : ''}${amount}</answer>`;
  });

export const FIXTURE_RUNS: readonly FixtureRun[] = [
  {
    name: 'proven',
    play: () => play(worldFiles({ ...simulated, numEpochs: 2, batchSize: 12 }, { train: 24, val: 24, test: 40 })),
  },
  {
    name: 'not-proven',
    play: () =>
      play(
        worldFiles(
          {
            ...brief,
            ...{ editBudget: 1, minEditBudget: 1, proposalsPerBatch: 1, gate: 'strict' },
            target: { provider: 'simulated', noise: 0.2 },
          },
          { train: 12, val: 24, test: 36 },
        ),
      ),
  },
  {
    name: 'worse',
    async play() {
      await using server = await startInvoices();
      return await play(invoiceFiles(server.baseURL));
    },
  },
  {
    name: 'broken-optimizer',
    async play() {
      await using server = await startSimOverHttp();
      server.disturbance = ({ model }) =>
        model === 'sim-optimizer' ? { content: 'I am sorry, I cannot help with that.' } : undefined;
      const models = {
        target: atFarSide('sim-target', server.baseURL),
        optimizer: atFarSide('sim-optimizer', server.baseURL),
      };
      return await play(worldFiles({ ...brief, ...models }));
    },
  },
  {
    name: 'budget-ended',
    play: () =>
      play(
        worldFiles({
          ...simulated,
          numEpochs: 4,
          batchSize: 12,
          proposalsPerBatch: 1,
          gate: 'strict',
          racing: 'off',
          finalPasses: 2,
          maxCalls: 170,
        }),
        'train --quiet --ignore-estimate',
      ),
  },
];
