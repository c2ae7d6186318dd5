import { agentPrograms, type Environment } from '../../agents/index.ts';
import { type AgentRunner, type Sandbox, SkillError } from '../../core/contracts/index.ts';
import { type AgentTarget, type Notices, namedProgram, openAgentTarget, pinnedProgram } from '../../project/index.ts';
import { limitsOf } from '../../runners/index.ts';
import { mostTokensOf } from '../../train/index.ts';
import { openProjectTemplate, openSandbox, removeStale } from '../../workspaces/index.ts';
import type { OpenedWork } from './night-work.ts';

type Where = { readonly env: Environment; readonly project: string; readonly notices?: Notices | undefined };

export type FoundWork = {
  readonly agent: AgentRunner;
  readonly sandbox: Sandbox;
  /** Most tokens of one attempt. */
  readonly maxTokens: number;
  /** Most time of one, with its judgement. */
  readonly longestMs: number;
  /** Copies the project as it was at a commit, or as it is. */
  readonly open: (commit?: string) => Promise<OpenedWork>;
};

/** Most tokens of one attempt, unless the target's limits say otherwise: a night has a limit of its own, which must hold some. */
const ATTEMPT_TOKENS = 500_000;
/** For commands and models that judge what was done. */
const JUDGING_MS = 600_000;

/** The agent of a night by the program that is pinned for it, and its sandbox. Asks no model. */
export async function findWork(spec: AgentTarget, { env, project, notices }: Where): Promise<FoundWork> {
  const sandbox = openSandbox(spec.sandbox);
  await sandbox.ready();
  const wanted = { cli: agentPrograms[spec.agent].cli, env, project, notices };
  const { path } = spec.path === undefined ? await pinnedProgram(wanted) : namedProgram(spec.path, wanted);
  const agent = await openAgentTarget({ ...spec, path }, { env, directory: project, sandbox });
  const { maxTokens = ATTEMPT_TOKENS } = spec.limits ?? {};
  const limits = { ...spec.limits, maxTokens };
  return {
    ...{ agent, sandbox, maxTokens, longestMs: limitsOf(limits).timeoutMs + JUDGING_MS },
    async open(commit) {
      await removeStale();
      return { agent, sandbox, limits, project: await openProjectTemplate({ folder: project, commit, sandbox }) };
    },
  };
}

/** Throws where a night's limit of tokens could not pay for a single attempt. */
export function requireRoom({ maxTokens }: Pick<FoundWork, 'maxTokens'>, maxTokensPerNight: number): void {
  const least = mostTokensOf(maxTokens);
  if (maxTokensPerNight >= least) return;
  const [allowed, needed] = [maxTokensPerNight, least].map((tokens) => tokens.toLocaleString('en-US'));
  throw new SkillError(
    'USAGE',
    `one attempt with tools may take ${needed} tokens, and maxTokensPerNight is ${allowed}`,
    {
      hint: 'Raise maxTokensPerNight, or allow an attempt less: target: { agent: claude, limits: { maxTokens: NUMBER } }.',
    },
  );
}
