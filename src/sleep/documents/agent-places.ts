import { join } from 'node:path';
import { type AgentName, agentPrograms } from '../../agents/index.ts';
import { homePath, type Place } from '../../transcripts/index.ts';

/** Where an agent reads what people write for it. */
export type AgentPlaces = {
  /** Folders of skills of the user, the one for new skills first. */
  readonly userSkills: (place: Place) => readonly string[];
  /** Folders of skills below a project. */
  readonly projectSkills: readonly string[];
  /** Files with instructions in a project, the usual one first. */
  readonly memory: readonly string[];
};

/** What most agents read, for those whose own places are not known. */
const COMMON: AgentPlaces = {
  userSkills: ({ home }) => [join(home, '.agents', 'skills')],
  projectSkills: ['.agents/skills'],
  memory: ['AGENTS.md'],
};

/** By the name of a model or of a transcript source: `claude-cli`, `copilot`. */
export function placesOf(agent: string): AgentPlaces {
  const name = agent.replace(/-cli$/, '');
  const documents = Object.hasOwn(agentPrograms, name) ? agentPrograms[name as AgentName].documents : undefined;
  if (documents === undefined) return COMMON;
  const { home: own, ownSkills, sharedSkills, projectSkills, instructions, otherInstructions = [] } = documents;
  return {
    userSkills: ({ env, home }) => [
      ...ownSkills.map((folder) => join(homePath(env[own.variable] || own.folder, home), folder)),
      ...sharedSkills.map((folder) => join(home, folder)),
    ],
    projectSkills,
    memory: [...instructions, ...otherInstructions],
  };
}
