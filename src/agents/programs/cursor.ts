import type { AgentProgram } from './agent-program.ts';
import { claudeReader } from './claude.ts';

/**
 * By its documentation: it cannot be installed where this is tested. It asks its own service alone, so that there is no
 * gateway, and its key or sign-in is what the user has.
 */
export const cursor: AgentProgram = {
  name: 'cursor',
  cli: 'cursor-cli',
  skillFolders: { user: '.cursor/skills', project: '.cursor/skills' },
  capabilities: { seesLoading: 'event', seesOffers: false, limitsTurns: false },
  keyVariables: [],
  provider: () => ({ baseURL: 'https://api.cursor.com', key: undefined, auth: 'bearer' }),
  signIn: ({ userHome }) => ({ '.cursor/cli-config.json': `${userHome}/.cursor/cli-config.json` }),
  keyrings: ['darwin', 'linux', 'win32'],
  launch: ({ model, prompt }) => ({
    args: [
      ...['-p', '--output-format', 'stream-json', '--force', '--trust'],
      ...(model === undefined ? [] : ['--model', model]),
      ...['--', prompt],
    ],
  }),
  reader: claudeReader('Skill'),
};
