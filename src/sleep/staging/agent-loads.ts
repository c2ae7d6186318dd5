import { basename } from 'node:path';

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
