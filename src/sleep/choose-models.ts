import { agentClis, agentPrograms, findAgents } from '../agents/index.ts';
import { SkillError } from '../core/contracts/index.ts';
import { agentTargetOf, type ModelSpec, readPins } from '../project/index.ts';

export type SleepModels = {
  readonly target: ModelSpec;
  readonly optimizer: ModelSpec;
  readonly judge: ModelSpec;
  /** Whether somebody named them. Otherwise they are the first agent CLI that is pinned or installed here. */
  readonly isChosen: boolean;
};

type NamedModels = {
  readonly target?: ModelSpec | undefined;
  readonly optimizer?: ModelSpec | undefined;
  readonly judge?: ModelSpec | undefined;
};

type NightFolder = {
  readonly place: { readonly env: Readonly<Record<string, string | undefined>> };
  readonly project: string;
};

/** The models that settings name. For the other roles: the target, or an agent CLI that is installed. */
export async function chooseModels(named: NamedModels, here: NightFolder): Promise<SleepModels> {
  if (named.target === HANDOFF) return { target: HANDOFF, optimizer: HANDOFF, judge: HANDOFF, isChosen: true };
  if (named.optimizer === HANDOFF || named.judge === HANDOFF) throw halfHandoff();
  const optimizer = named.optimizer ?? inWords(named.target) ?? (await installedAgent(here));
  const target = named.target ?? optimizer;
  const isChosen = named.target !== undefined || named.optimizer !== undefined;
  return { target, optimizer, judge: named.judge ?? optimizer, isChosen };
}

/** An agent with tools answers no questions, so the same CLI is asked as a chat. At another address its model is unknown. */
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

/** No model at all: questions are written to files, and a session of an agent answers them. For all roles or none. */
const HANDOFF = 'handoff';

export const isHandoff = (spec: ModelSpec) => spec === HANDOFF;

const halfHandoff = () =>
  new SkillError('CONFIG_INVALID', 'expected handoff for the target, which is for all roles; got it for another one', {
    hint: 'Name it once, as the target.',
  });

async function installedAgent({ place: { env }, project }: NightFolder): Promise<string> {
  const pins = await readPins(env);
  const pinned = Object.values(agentClis).find(({ cli }) => pins[cli] !== undefined);
  const agent = pinned?.cli ?? findAgents(env, project)[0]?.cli;
  if (agent !== undefined) return agent;
  throw new SkillError('CONFIG_INVALID', 'no model is named for the night, and no agent CLI is installed here', {
    hint: 'Install and sign in to one (Claude Code, Codex, Gemini CLI …), or name a model: target: provider:model in the project file or in config.yaml in the state folder.',
  });
}
