import { z } from 'zod';
import { type AgentName, agentPrograms } from '../../agents/index.ts';
import { AgentLimitsSpec, type AgentRunner, keysAt, SkillError } from '../../core/contracts/index.ts';
import { describeIssue, suggestion, valueAt } from '../../core/text/index.ts';
import { type Price, priceOf } from '../../models/index.ts';
import type { AgentRunnerOptions } from '../../runners/index.ts';
import type { LoadedProject } from '../load-project.ts';
import { isTyped, withPlace } from '../origin.ts';
import { type Project, SandboxSpec } from '../project.ts';
import type { Environment } from './provider.ts';
import { isAgentSpec } from './providers.ts';
import { readEnvFile } from './read-env-file.ts';
import { agentVariables } from './usual-key.ts';

const names = Object.keys(agentPrograms) as [AgentName, ...AgentName[]];

/** `target: { agent: claude, … }`: the skill is for an agent with tools. */
export const AgentTarget = z.strictObject({
  agent: z.enum(names, `expected an agent: ${names.join(', ')}`),
  model: z.string().min(1).optional(),
  sandbox: SandboxSpec.optional(),
  scope: z.enum(['user', 'project']).optional(),
  baseURL: z.url().optional(),
  apiKeyEnv: z.string().min(1).optional(),
  path: z.string().min(1).optional(),
  limits: AgentLimitsSpec.optional(),
});
export type AgentTarget = z.output<typeof AgentTarget>;

/** The agent that a project names. `undefined` if the target is a chat model. */
export function agentTargetOf({ target }: { readonly target?: unknown }): AgentTarget | undefined {
  if (!isAgentSpec(target)) return undefined;
  const read = AgentTarget.safeParse(target);
  if (read.success) return read.data;
  const problems = read.error.issues.map(
    (issue) => `  ${describeIssue(issue, target, keysAt(AgentTarget, issue.path))}${guess(issue, target)}`,
  );
  throw new SkillError('CONFIG_INVALID', ['the target (an agent) is not valid:', ...problems].join('\n'), {
    cause: read.error,
    hint: hintFor(read.error.issues[0]!),
  });
}

/** The keys of the target, or of the part of it with the first mistake. */
function hintFor({ path }: z.core.$ZodIssue): string {
  const [part] = path;
  const own = part === undefined ? [] : keysAt(AgentTarget, [part]);
  if (own.length > 0) return `target.${String(part)} may have: ${own.join(', ')}.`;
  return `It may have: ${Object.keys(AgentTarget.shape).join(', ')}.`;
}

/** The same, with the line of the first mistake in its error. */
export async function requireAgentTarget(
  loaded: Pick<LoadedProject, 'project' | 'findOrigin'>,
): Promise<AgentTarget | undefined> {
  const { project, findOrigin } = loaded;
  try {
    return agentTargetOf(project);
  } catch (error) {
    throw await withPlace(error, ['target', ...keyIn(error)], findOrigin);
  }
}

function keyIn(error: unknown): PropertyKey[] {
  const cause = error instanceof SkillError ? error.cause : undefined;
  const [issue] = cause instanceof z.ZodError ? cause.issues : [];
  if (issue === undefined) return [];
  return [...issue.path, ...(issue.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [])];
}

const guess = (issue: z.core.$ZodIssue, target: unknown) =>
  issue.code === 'invalid_value' ? suggestion(String(valueAt(issue, target)), issue.values.map(String)) : '';

/** The agent that a project names. It is found and probed, but not asked. */
export async function resolveAgent(
  loaded: LoadedProject,
  { env }: { readonly env: Environment },
): Promise<AgentRunner | undefined> {
  const { project, directory, findOrigin } = loaded;
  const spec = await requireAgentTarget(loaded);
  if (spec === undefined) return undefined;
  try {
    const price = requirePrice(spec, project);
    const { openSandbox } = await import('../../workspaces/index.ts');
    const sandbox = openSandbox(spec.sandbox ?? project.sandbox);
    const isSpecOwn = await isTyped('target', loaded);
    return await openAgentTarget(spec, { env, directory, sandbox, price, isSpecOwn });
  } catch (error) {
    throw await withPlace(error, ['target'], findOrigin);
  }
}

/** A limit in dollars needs a price. */
function requirePrice({ model, limits }: AgentTarget, { prices }: Pick<Project, 'prices'>): Price | undefined {
  const price = model === undefined ? undefined : priceOf(model, prices);
  if (model === undefined || limits?.maxUsd === undefined || price !== undefined) return price;
  throw new SkillError('CONFIG_INVALID', `limits.maxUsd is ${limits.maxUsd}, and the price of ${model} is not known`, {
    hint: 'Check the name of the model, or write its price under prices in the project file. Or limit turns or tokens: maxTurns, maxTokens.',
  });
}

type AgentSurroundings = Pick<AgentRunnerOptions, 'sandbox' | 'price'> & {
  readonly env: Environment;
  readonly directory: string;
  /** Takes nothing from the project's `.env` but keys: texts that are sent are of the person, and who reads them was shown. */
  readonly isAddressOwn?: boolean;
  /** Whether the person names the target, by a flag or in settings of their own. Otherwise a project does. */
  readonly isSpecOwn?: boolean;
};

const KEY = /_(?:KEY|TOKEN|SECRET)$/;

export async function openAgentTarget(
  { sandbox: _, limits: __, ...options }: AgentTarget,
  { env, directory, sandbox, price, isAddressOwn = false, isSpecOwn = false }: AgentSurroundings,
): Promise<AgentRunner> {
  const { agentRunner } = await import('../../runners/index.ts');
  const found = Object.entries(await readEnvFile(directory)).filter(([name]) => !isAddressOwn || KEY.test(name));
  const inherited = agentVariables(options, { env, fromFile: Object.fromEntries(found), isSpecOwn });
  return agentRunner({ ...options, pathSetting: 'target.path', sandbox, price, inherited });
}
