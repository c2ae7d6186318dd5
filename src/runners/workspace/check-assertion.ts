import { type AgentRun, END_WORDS, type WorkspaceDiff } from '../../core/contracts/index.ts';
import { type Assertion, searchPattern } from '../../core/judge/index.ts';
import { isCovered } from './site.ts';

/** All that an assertion may look at. */
export type Attempted = {
  readonly run: AgentRun;
  readonly diff: WorkspaceDiff;
  /** The skill that is trained. */
  readonly skill: string;
  /** The text of a file in the workspace, '' for a folder, `undefined` where nothing is. */
  readonly read: (path: string) => Promise<string | undefined>;
  /** Files of the workspace that a pattern stands for. */
  readonly find: (glob: string) => Promise<readonly string[]>;
};

/** Why an assertion does not hold; nothing if it does. */
export async function whyNot(assertion: Assertion, attempted: Attempted): Promise<string | undefined> {
  switch (assertion.type) {
    case 'file_exists':
    case 'file_not_exists':
    case 'file_contains':
    case 'file_not_contains':
      return fileProblem(assertion, await textsAt(assertion, attempted));
    case 'output_contains':
    case 'output_not_contains':
    case 'output_matches':
    case 'output_not_matches':
      return outputProblem(assertion, attempted.run.text);
    default:
      return workProblem(assertion, attempted);
  }
}

type FileAssertion = Extract<Assertion, { path: string }>;

/** Of those that a pattern stands for, so many are read: each is a command. */
const MOST_FILES = 200;

/** What is at a path, or at each one that a pattern stands for. */
async function textsAt({ type, path }: FileAssertion, { read, find }: Attempted): Promise<readonly string[]> {
  const paths = /[*?]/.test(path) ? await find(path) : [path];
  const texts: string[] = [];
  for (const one of paths.slice(0, type.endsWith('exists') ? 1 : MOST_FILES)) {
    const text = await read(one);
    if (text !== undefined) texts.push(text);
  }
  return texts;
}

function fileProblem(assertion: FileAssertion, texts: readonly string[]): string | undefined {
  const { type, path } = assertion;
  const isThere = texts.length > 0;
  if (type === 'file_not_exists') return isThere ? `${path} is there` : undefined;
  if (type === 'file_exists') return isThere ? undefined : `${path} is not there`;
  const holds = texts.some((text) => text.includes(assertion.value));
  if (type === 'file_not_contains') return holds ? `${path} holds ${shown(assertion.value)}` : undefined;
  if (!isThere) return `${path} is not there`;
  if (holds) return undefined;
  return `${path} does not hold ${shown(assertion.value)}`;
}

type OutputAssertion = Extract<Assertion, { type: `output_${string}` }>;

function outputProblem({ type, value }: OutputAssertion, text: string): string | undefined {
  const isPattern = type === 'output_matches' || type === 'output_not_matches';
  const isThere = isPattern ? searchPattern(value, text) : text.toLowerCase().includes(value.toLowerCase());
  const isWanted = type === 'output_contains' || type === 'output_matches';
  if (isThere === isWanted) return undefined;
  return `the answer ${isWanted ? 'does not' : 'does'} ${isPattern ? 'match' : 'hold'} ${shown(value)}`;
}

type WorkAssertion = Exclude<Assertion, FileAssertion | OutputAssertion>;

function workProblem(assertion: WorkAssertion, { run, diff, skill }: Attempted): string | undefined {
  const problem = (isMet: boolean, words: string) => (isMet ? undefined : words);
  const tools = new Set(run.steps.flatMap((step) => (step.type === 'tool-call' ? [step.tool.toLowerCase()] : [])));
  const used = (name = skill) => run.skillsLoaded.includes(name);
  const tokens = run.usage.input + run.usage.output;
  switch (assertion.type) {
    case 'exit_success':
      return problem(run.ended === 'done', `it was ended: ${END_WORDS[run.ended]}`);
    case 'expect_tools': {
      const missing = assertion.value.filter((name) => !tools.has(name.toLowerCase()));
      return problem(missing.length === 0, `it did not use ${missing.join(', ')}`);
    }
    case 'reject_tools': {
      const found = assertion.value.filter((name) => tools.has(name.toLowerCase()));
      return problem(found.length === 0, `it used ${found.join(', ')}`);
    }
    case 'max_turns':
      return problem(run.turns <= assertion.value, `it took ${run.turns} turns, more than ${assertion.value}`);
    case 'max_tokens':
      return problem(tokens <= assertion.value, `it took ${tokens} tokens, more than ${assertion.value}`);
    case 'max_cost_usd':
      return problem((run.costUsd ?? 0) <= assertion.value, `it cost $${run.costUsd}, more than $${assertion.value}`);
    case 'skill_used':
      return problem(used(assertion.value), `it did not load the skill ${assertion.value ?? skill}`);
    case 'skill_not_used':
      return problem(!used(assertion.value), `it loaded the skill ${assertion.value ?? skill}`);
    case 'diff_only': {
      const others = diff.changes.filter(({ path }) => !isCovered(path, assertion.value));
      return problem(others.length === 0, `it changed ${others.map(({ path }) => path).join(', ')}`);
    }
  }
}

const shown = (text: string) => JSON.stringify(text.length > 100 ? `${text.slice(0, 99)}…` : text);
