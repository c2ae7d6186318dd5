import { z } from 'zod';
import {
  type ResourceLimits,
  type RolloutOutput,
  type Sandbox,
  type SandboxResult,
  SkillError,
} from '../core/contracts/index.ts';
import type { JudgeOf, OnVerifierCrash, TaskScorer } from '../core/judge/index.ts';
import { head, parseJson, strip } from '../core/text/index.ts';
import { judgeAnswer, judgedOutput } from './judge-answer.ts';

/** How often a model is asked about one answer: with a reference, once in each position. */
const REPEATS = 2;

/**
 * By itself an answer must be good; with a reference, as good as that. All criteria must be met, but a single no in one of
 * the two judgements is taken for a mistake of the judge.
 */
function passMarkOf({ passMark, reference, criteria }: JudgeOf<'rubric'>): number {
  if (passMark !== undefined) return passMark;
  return criteria ? 1 - 0.75 / criteria.length : reference === undefined ? 0.8 : 0.5;
}

/** Tasks with a rubric, scored by the run's judge model. A reply that cannot be read, or a score beyond 0 to 1, is missing. */
export function rubricJudge(): TaskScorer<'rubric'> {
  return {
    kind: 'rubric',
    version: '1',
    judgeCalls: () => REPEATS,
    async score({ judge, question, answer, model, signal }) {
      const { rubric = '', criteria, reference } = judge;
      const asked = { judge: model, question, answer, rubric, criteria, reference, repeats: REPEATS, signal };
      return judgedOutput(await judgeAnswer(asked), { passMark: passMarkOf(judge) });
    },
  };
}

const share = z.number().min(0).max(1);
const CommandVerdict = z.object({ hard: share, soft: share.optional(), reason: z.string().optional() });

type CommandJudgeOptions = {
  readonly sandbox: Sandbox;
  /** Where nobody has worked, if the command looks at more than the answer. Default: the sandbox. */
  readonly untouched?: Sandbox;
  /** Default: `fail`. */
  readonly onVerifierCrash?: OnVerifierCrash;
};

/** What a command may use up that runs an answer: as much as an agent's attempt. */
const LIMITS: ResourceLimits = { processes: 512, memoryMb: 4096, diskMb: 2048 };

/**
 * Tasks whose answers a command scores in a sandbox: by its exit code, or by the last line that it prints. If it crashes, takes
 * too long or prints something else, it is asked about an empty answer. If it gives a verdict on that, the answer has failed;
 * otherwise, and where the command cannot be started, the result is missing.
 */
export function commandJudge(options: CommandJudgeOptions): TaskScorer<'command'> {
  const { sandbox, untouched = sandbox, onVerifierCrash = 'fail' } = options;
  return {
    kind: 'command',
    version: `1 in ${sandbox.id}${onVerifierCrash === 'stop' ? ', a crash stops' : ''}`,
    ready: () => sandbox.ready(),
    async score({ judge, answer, signal }) {
      try {
        const output = await runJudge(judge, { answer, sandbox, signal });
        if (!output.unjudged || onVerifierCrash === 'stop') return output;
        const empty = await runJudge(judge, { answer: '', sandbox: untouched, signal });
        return empty.unjudged
          ? output
          : { hard: 0, soft: 0, failReason: `failed a command's check: ${output.failReason}` };
      } catch (error) {
        signal?.throwIfAborted();
        if (error instanceof SkillError && error.code === 'SANDBOX_UNAVAILABLE') throw error;
        return missing(`it could not be started: ${(error as Error).message}`);
      }
    },
  };
}

type JudgedText = { readonly answer: string; readonly sandbox: Sandbox; readonly signal: AbortSignal | undefined };

async function runJudge(judge: JudgeOf<'command'>, { answer, sandbox, signal }: JudgedText): Promise<RolloutOutput> {
  const { command, files, timeoutMs } = judge;
  const words = typeof command === 'string' ? ['/bin/sh', '-c', command] : command;
  const laid = { ...files, 'answer.txt': answer };
  const asked = { command: words, files: laid, stdin: answer, limits: LIMITS, timeoutMs, signal };
  return readResult(await sandbox.run(asked), judge);
}

function readResult(result: SandboxResult, judge: JudgeOf<'command'>): RolloutOutput {
  const { exitCode, signal, timedOut, exceeded, stdout } = result;
  if (exceeded !== undefined) return missing(`it used too much: ${exceeded}`);
  if (timedOut) return missing(`it took more than ${judge.timeoutMs} ms`);
  if (exitCode === undefined) return missing(`it was ended by ${signal}`);
  // What a shell says of a program that is not there, or that a signal ended.
  if (exitCode === 126 || exitCode === 127 || exitCode > 128) return missing(`it ended with exit code ${exitCode}`);
  if (judge.verdict === 'stdout') return exitCode === 0 ? readLastLine(stdout) : missing(`it failed (${exitCode})`);
  if (exitCode === 0) return { hard: 1, soft: 1 };
  return { hard: 0, soft: 0, failReason: `failed a command's check: exit code ${exitCode}` };
}

function readLastLine(stdout: string): RolloutOutput {
  const line = strip(stdout).split('\n').at(-1)!;
  const said = parseJson(line);
  const read = CommandVerdict.safeParse(typeof said === 'number' ? { hard: said, soft: said } : said);
  if (!read.success) return missing(`its last line is no verdict: ${JSON.stringify(head(line, 100))}`);
  const { hard, soft = hard, reason } = read.data;
  const failReason = `failed a command's check: ${reason ? head(reason, 1_000) : `it scored ${hard}`}`;
  return { hard, soft, ...(hard < 1 ? { failReason } : {}) };
}

const missing = (why: string): RolloutOutput => ({
  hard: 0,
  soft: 0,
  errored: true,
  unjudged: true,
  failReason: `the judge's command gave no verdict: ${why}`,
});
