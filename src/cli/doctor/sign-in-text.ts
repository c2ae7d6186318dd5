import { type AgentName, agentPrograms } from '../../agents/index.ts';
import { type AgentAbout, SkillError } from '../../core/contracts/index.ts';

/** How an agent signs in to its model. Throws when it cannot. */
export function signInText({ agent, signIn }: AgentAbout): string {
  if (signIn === 'none') throw noSignIn(agent);
  if (signIn !== 'unseen') return SIGN_IN[signIn];
  return `no key is set, and a sign-in would be in a keyring, which cannot be seen: if there is none, ${remedy(agent)}`;
}

const SIGN_IN = {
  key: 'its key stays outside of the sandbox',
  address: 'no key is set, and its model is asked without one',
  file: 'it asks with your sign-in',
  variable: 'it asks with a key among its own variables',
};

const noSignIn = (agent: string) =>
  new SkillError('CONFIG_INVALID', `${agent} needs a key or a sign-in to ask its model, and there is neither here`, {
    hint: remedy(agent),
  });

function remedy(agent: string): string {
  const { signInCommand, keyVariables } = agentPrograms[agent as AgentName];
  const key = keyVariables.length === 0 ? '' : `set ${keyVariables.join(' or ')}, also in .env, or `;
  return `${key}sign in: ${signInCommand}`;
}
