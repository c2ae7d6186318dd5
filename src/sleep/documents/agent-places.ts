import { join } from 'node:path';
import { homePath, type Place } from '../../transcripts/index.ts';

/** Where an agent reads what people write down for it. */
export type AgentPlaces = {
  /** Folders of skills of the user, the one for new skills first; then below a project. */
  readonly userSkills: (place: Place) => readonly string[];
  readonly projectSkills: readonly string[];
  /** Files with instructions in a project, the usual one first. */
  readonly memory: readonly string[];
};

const shared = ({ home }: Place) => join(home, '.agents', 'skills');
const inHome =
  (variable: string, folder: string, ...rest: string[]) =>
  (place: Place) => [join(homeOf(place, variable, folder), ...rest), shared(place)];
const homeOf = ({ env, home }: Place, variable: string, folder: string) => homePath(env[variable] || folder, home);

/** By the name of the transcript source. Seen by running them with marked skills. */
const PLACES: Readonly<Record<string, AgentPlaces>> = {
  claude: {
    userSkills: (place) => [join(homeOf(place, 'CLAUDE_CONFIG_DIR', '.claude'), 'skills')],
    projectSkills: ['.claude/skills'],
    memory: ['CLAUDE.md'],
  },
  codex: {
    userSkills: inHome('CODEX_HOME', '.codex', 'skills'),
    projectSkills: ['.codex/skills', '.agents/skills'],
    memory: ['AGENTS.md'],
  },
  gemini: {
    // The variable names the home in which .gemini is.
    userSkills: inHome('GEMINI_CLI_HOME', '', '.gemini', 'skills'),
    projectSkills: ['.gemini/skills', '.agents/skills'],
    memory: ['GEMINI.md'],
  },
  qwen: {
    userSkills: inHome('QWEN_HOME', '.qwen', 'skills'),
    projectSkills: ['.qwen/skills', '.agents/skills'],
    memory: ['QWEN.md', 'AGENTS.md'],
  },
  opencode: {
    userSkills: (place) => [
      join(homeOf(place, 'XDG_CONFIG_HOME', '.config'), 'opencode', 'skills'),
      join(place.home, '.claude', 'skills'),
      shared(place),
    ],
    projectSkills: ['.opencode/skills', '.claude/skills', '.agents/skills'],
    memory: ['AGENTS.md', 'CLAUDE.md'],
  },
  'copilot-cli': {
    userSkills: inHome('COPILOT_HOME', '.copilot', 'skills'),
    projectSkills: ['.github/skills', '.claude/skills', '.agents/skills'],
    memory: ['AGENTS.md', 'CLAUDE.md', 'GEMINI.md', '.github/copilot-instructions.md'],
  },
  pi: {
    userSkills: inHome('PI_CODING_AGENT_DIR', join('.pi', 'agent'), 'skills'),
    projectSkills: ['.pi/skills', '.agents/skills'],
    memory: ['AGENTS.md', 'CLAUDE.md'],
  },
};

/** For agents of which no place of their own is known: what most of them read. */
const COMMON: AgentPlaces = {
  userSkills: (place) => [shared(place)],
  projectSkills: ['.agents/skills'],
  memory: ['AGENTS.md'],
};

/** The names of agents in models and sources: `claude-cli`, `copilot`. */
export function placesOf(agent: string): AgentPlaces {
  const name = agent.replace(/-cli$/, '');
  return PLACES[agent] ?? PLACES[name] ?? PLACES[`${name}-cli`] ?? COMMON;
}
