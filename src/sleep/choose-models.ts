import { type AgentCliName, agentClis, agentPrograms, findAgents } from '../agents/index.ts';
import { SkillError } from '../core/contracts/index.ts';
import { agentTargetOf, type ModelSpec, readPins } from '../project/index.ts';

export type SleepModels = {
  readonly target: ModelSpec;
  readonly optimizer: ModelSpec;
  readonly judge: ModelSpec;
  /** Whether somebody named them; else it is the first agent CLI that is pinned, or installed here. */
  readonly isChosen: boolean;
};

type Named = {
  readonly target?: ModelSpec | undefined;
  readonly optimizer?: ModelSpec | undefined;
  readonly judge?: ModelSpec | undefined;
};

type Here = {
  readonly place: { readonly env: Readonly<Record<string, string | undefined>> };
  readonly project: string;
};

/** The models that settings name, where they name one; for the other roles the target, or an agent CLI that is installed. */
export async function chooseModels(named: Named, here: Here): Promise<SleepModels> {
  if (named.target === HANDOFF) return { target: HANDOFF, optimizer: HANDOFF, judge: HANDOFF, isChosen: true };
  if (named.optimizer === HANDOFF || named.judge === HANDOFF) throw halfHandoff();
  const optimizer = named.optimizer ?? inWords(named.target) ?? (await installedAgent(here));
  const target = named.target ?? optimizer;
  const isChosen = named.target !== undefined || named.optimizer !== undefined;
  return { target, optimizer, judge: named.judge ?? optimizer, isChosen };
}

/** An agent with tools answers nobody: the same CLI is asked in words. Which model one asks at another address is not known. */
function inWords(target: ModelSpec | undefined): ModelSpec | undefined {
  const spec = agentTargetOf({ target });
  if (spec === undefined) return target;
  const { agent, model, path, baseURL, apiKeyEnv } = spec;
  if (baseURL !== undefined || apiKeyEnv !== undefined) throw needsOptimizer(agent);
  const { cli: provider } = agentPrograms[agent];
  return { provider, ...(model === undefined ? {} : { model }), ...(path === undefined ? {} : { path }) };
}

const needsOptimizer = (agent: string) =>
  new SkillError(
    'CONFIG_INVALID',
    `${agent} as the target asks its model with a key or an address of its own, and no optimizer is named`,
    {
      hint: 'Name the model that finds tasks, proposes edits and judges: optimizer: provider:model, beside the target.',
    },
  );

/** No model at all: questions are written to files, and a session of an agent answers them. All roles or none. */
const HANDOFF = 'handoff';

export const isHandoff = (spec: ModelSpec) => spec === HANDOFF;

const halfHandoff = () =>
  new SkillError('CONFIG_INVALID', 'expected handoff for the target, which is for all roles; got it for another one', {
    hint: 'Name it once, as the target.',
  });

async function installedAgent({ place: { env }, project }: Here): Promise<string> {
  const pins = await readPins(env);
  const pinned = Object.keys(agentClis).find((cli) => pins[cli as AgentCliName] !== undefined);
  const agent = pinned ?? findAgents(env, project)[0]?.cli;
  if (agent !== undefined) return agent;
  throw new SkillError('CONFIG_INVALID', 'no model is named for the night, and no agent CLI is installed here', {
    hint: 'Install and sign in to one (Claude Code, Codex, Gemini CLI …), or name a model: target: provider:model in the project file or in config.yaml in the state folder.',
  });
}

/** Whether a model can find tasks. With a handoff that would take a round of its own, so rules find them. */
export const canMine = (spec: SleepModels['optimizer']) => !isSimulated(spec) && !isHandoff(spec);

/** A simulated model is part of this process: it reads no sessions and finds no tasks. */
export const isSimulated = (spec: SleepModels['optimizer']) =>
  (typeof spec === 'string' ? spec : String(spec.provider)).startsWith('simulated');
