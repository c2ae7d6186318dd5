import { existsSync } from 'node:fs';
import {
  type AgentProgram,
  agentClis,
  childEnvironment,
  type Environment,
  homeIn,
  type Located,
} from '../../agents/index.ts';
import type { AgentSignIn } from '../../core/contracts/index.ts';

type User = {
  readonly program: AgentProgram;
  readonly located: Located;
  readonly model: string | undefined;
  readonly env: Environment;
};

/** The files that hold the user's own sign-in, where there are some, by path in the agent's home. */
export function signInFiles({ program, env }: Pick<User, 'program' | 'env'>): Readonly<Record<string, string>> {
  return program.signIn?.({ env, userHome: homeIn(env) }) ?? {};
}

/** Names that an agent's own variables have where they hold a key, or say that a cloud knows the user. */
const CREDENTIAL = /(_KEY|_TOKEN|_CREDENTIALS|_USE_(BEDROCK|VERTEX|VERTEXAI|GCA))$/;

/** How an agent without a gateway signs in, as far as that can be seen without asking its model. */
export function ownSignIn({ program, located, model, env }: User): AgentSignIn {
  if (Object.values(signInFiles({ program, env })).some((file) => existsSync(file))) return 'file';
  const theirs = childEnvironment({ cli: agentClis[program.cli], model, program: located, inherited: env });
  if (Object.entries(theirs).some(([name, value]) => value && CREDENTIAL.test(name))) return 'variable';
  return program.keyrings?.includes(process.platform) ? 'unseen' : 'none';
}
