import { basename, join } from 'node:path';
import { type ReadDocument, readDocument } from '../../skills/index.ts';
import { homePath, type Place } from '../../transcripts/index.ts';
import { textOf } from '../staging/stage.ts';

/** A document as it is on disk, or as it would begin. */
export type LiveDocument = {
  readonly kind: 'skill' | 'memory';
  readonly name: string;
  /** Of a document that is not there yet: what it begins with. */
  readonly text: string;
  readonly live: ReadDocument;
  /** The folders in which it may be written. */
  readonly roots: readonly string[];
  /** Whether it may be made where there is none. */
  readonly isNewAllowed: boolean;
  /** Of an existing skill that is trained because tasks name it: the hints by which they do. */
  readonly hints?: readonly string[] | undefined;
};

type DocumentToRead = Omit<LiveDocument, 'text' | 'live'> & { readonly path: string; readonly scaffold?: string };

/** Reads a document with every link resolved once. What could not be replaced in the morning is refused in the evening. */
export async function readLive({ path, scaffold = '', ...wanted }: DocumentToRead): Promise<LiveDocument> {
  const live = await readDocument(path, wanted.roots);
  return { ...wanted, live, text: live.bytes === null ? scaffold : textOf(live.bytes, path) };
}

/** How a skill of our own begins. */
export const scaffoldOf = (name: string) => `---
name: ${name}
description: How this person likes things done, as learned from their own sessions. Read it before any task.
---

# Learned from your sessions

Short rules that proved themselves on your own tasks.
`;

/** Where an agent reads what people write down for it. */
type AgentPlaces = {
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

const AGENTS = {
  claude: 'Claude Code',
  codex: 'Codex',
  opencode: 'OpenCode',
  gemini: 'Gemini CLI',
  qwen: 'Qwen Code',
  copilot: 'Copilot CLI',
  pi: 'pi',
} as const;
type Agent = keyof typeof AGENTS;

/** Who puts a file of this name into every prompt. */
const INSTRUCTIONS: Readonly<Record<string, readonly Agent[]>> = {
  'claude.md': ['claude', 'copilot'],
  'agents.md': ['codex', 'opencode', 'qwen', 'copilot', 'pi'],
  'gemini.md': ['gemini', 'copilot'],
  'qwen.md': ['qwen'],
  'copilot-instructions.md': ['copilot'],
};

/** Who looks for skills in which folder, of a project or of a person. */
const SKILL_FOLDERS: readonly (readonly [RegExp, readonly Agent[]])[] = [
  [/\/\.claude\/skills\//, ['claude', 'opencode', 'copilot']],
  [/\/\.agents\/skills\//, ['codex', 'opencode', 'gemini', 'qwen', 'copilot', 'pi']],
  [/\/\.codex\/skills\//, ['codex']],
  [/\/(?:\.opencode|\.config\/opencode)\/skills?\//, ['opencode']],
  [/\/\.gemini\/skills\//, ['gemini']],
  [/\/\.qwen\/skills\//, ['qwen']],
  [/\/(?:\.copilot|\.github)\/skills\//, ['copilot']],
  [/\/\.pi\/(?:agent\/)?skills\//, ['pi']],
];

/** How a document reaches the agents: a sentence for a person. `path` is the one that agents look at, not the real one. */
export function agentLoads(path: string): string {
  const name = basename(path).toLowerCase();
  const always = INSTRUCTIONS[name];
  if (always)
    return `${listed(always)} ${always.length > 1 ? 'put' : 'puts'} ${basename(path)} into every prompt of a new session.`;
  const folders = SKILL_FOLDERS.find(([folder]) => folder.test(path.replaceAll('\\', '/')));
  if (name !== 'skill.md' || !folders)
    return 'No agent is known to load a file from there by itself: refer to it from one that is loaded.';
  const [see, load] = folders[1].length > 1 ? ['see', 'load'] : ['sees', 'loads'];
  return `${listed(folders[1])} ${see} its name and description in a new session, and ${load} the text when a request fits.`;
}

function listed(agents: readonly Agent[]): string {
  const names = agents.map((agent) => AGENTS[agent]);
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}
