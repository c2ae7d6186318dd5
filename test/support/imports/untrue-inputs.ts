import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { runCli } from '../../../src/cli/index.ts';
import { type FakeLLM, startFakeLLM } from '../../../src/testing/index.ts';
import { captureIo } from '../capture-io.ts';

type Outcome = 'refuse' | 'announce' | 'clean';
type Expected = {
  readonly kind: string;
  readonly file: string;
  readonly outcome: Outcome;
  readonly mustSay: readonly string[];
  /** Other outcomes that are as fair, and why. */
  readonly accepts?: readonly Outcome[];
};

const FIXTURES = new URL('../../fixtures/untrue-inputs/', import.meta.url).pathname;
export const untrueInputs = readdirSync(FIXTURES).filter((name) => existsSync(join(FIXTURES, name, 'expect.json')));
const expectedOf = (name: string) => JSON.parse(readFileSync(join(FIXTURES, name, 'expect.json'), 'utf8')) as Expected;

let server: FakeLLM;
beforeAll(async () => {
  server = await startFakeLLM(() => 'ok');
});
afterAll(() => server[Symbol.asyncDispose]());

const SKILL = '# Gardening\n\nWater the tomatoes in the morning.\n';

/** The files of a user in a project, whose models are the server's. */
function openFixture(name: string, { file }: Expected) {
  const path = mkdtempSync(join(tmpdir(), 'skillopt-inputs-'));
  cpSync(join(FIXTURES, name), path, { recursive: true });
  rmSync(join(path, 'expect.json'));
  const folder = [dirname(dirname(file)), dirname(file)].find((one) => existsSync(join(path, one, 'SKILL.md')));
  if (folder === undefined) writeFileSync(join(path, 'SKILL.md'), SKILL);
  const model = { provider: 'compatible', model: 'm', baseURL: server.baseURL, apiKeyEnv: 'FAR_KEY' };
  const judge = name.endsWith('-without-judge') ? {} : { judge: model };
  const skill = folder ?? 'SKILL.md';
  const project = { name: 'run', env: 'qa', tasks: file, skill, target: model, optimizer: model, ...judge };
  writeFileSync(join(path, 'skillopt.config.json'), JSON.stringify(project));
  return {
    path,
    async cli(...argv: string[]) {
      const env = { PATH: process.env.PATH, HOME: path, FAR_KEY: 'dummy-key', SKILLOPT_HOME: join(path, '.state') };
      const io = captureIo({ cwd: path, env });
      const before = server.requests.length;
      const code = await runCli(argv, io);
      return { code, said: io.err() + io.out(), err: io.err(), out: io.out(), calls: server.requests.length - before };
    },
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  };
}

/** A call is enough to see that training has begun. */
const ONE_CALL = ['--max-calls', '1', '--ignore-estimate', '--max-retries', '0'];
const aboutTasks = (said: string) => said.split('\n').filter((line) => /^warning: /.test(line));
const missingWords = (said: string, words: readonly string[]) =>
  words.filter((word) => !said.toLowerCase().includes(word.toLowerCase()));

type Ended = Awaited<ReturnType<ReturnType<typeof openFixture>['cli']>>;
const outcomeOf = ({ code, calls, said }: Ended): Outcome => {
  if (code === 2 && calls === 0) return 'refuse';
  return aboutTasks(said).length > 0 ? 'announce' : 'clean';
};

/** Goes through the commands with the files of a user, and expects what is written beside them. */
export async function meetsExpectation(name: string): Promise<void> {
  const expected = expectedOf(name);
  using project = openFixture(name, expected);
  const trained = await project.cli('train', ...ONE_CALL);
  const outcome = outcomeOf(trained);
  expect([expected.outcome, ...(expected.accepts ?? [])], trained.said).toContain(outcome);
  if (outcome === 'clean') return;
  expect(missingWords(trained.err, expected.mustSay), trained.said).toEqual([]);
  if (outcome === 'announce') {
    const report = trained.out.replace(/\s+/g, ' '); // lines are broken to fit
    expect(missingWords(report, ['About the tasks:', ...expected.mustSay]), report).toEqual([]);
    return;
  }
  expect(trained.said.split('\n').length, trained.said).toBeLessThan(24);
  const examined = await project.cli('doctor');
  expect(examined.code, examined.said).toBe(2);
  expect(missingWords(examined.said, expected.mustSay), examined.said).toEqual([]);
  for (const argv of [['eval', '--skill', 'SKILL.md'], ['calibrate'], ['compare', 'SKILL.md', 'SKILL.md']]) {
    const scored = await project.cli(...argv, '--max-calls', '1');
    expect([argv[0], scored.code, scored.calls], scored.said).toEqual([argv[0], 2, 0]);
    expect(missingWords(scored.said, expected.mustSay), scored.said).toEqual([]);
  }
  if (!trained.said.includes('--force')) return; // nothing can be read from it
  const forced = await project.cli('train', '--force', ...ONE_CALL);
  expect(forced.said).not.toContain('--force'); // where twins leave a split empty, that is said
}
