import { z } from 'zod';
import { noUsage } from '../../core/contracts/index.ts';
import type { AgentCli } from '../agent-cli.ts';
import { inSections, option } from '../cli-parts.ts';
import { lastEvent } from '../read-events.ts';
import { claudeReader } from './claude.ts';

/**
 * Written by its documentation: it could not be installed where this is tested. It takes the prompt only as an argument, no
 * system prompt, and reports no tokens. As a chat its prompt is in sections: otherwise it could be read as an option, as a
 * command such as `logout`, or, with `&` before it, as work for the cloud. It asks only its own service, without a gateway.
 */
export const cursor: AgentCli<'cursor'> = {
  name: 'cursor',
  cli: 'cursor-cli',
  title: 'Cursor',
  binary: 'cursor-agent',
  installCommand: 'curl https://cursor.com/install -fsS | bash',
  signInCommand: 'cursor-agent login',
  variables: () => ['CURSOR_*'],
  invoke: (call) => ({
    args: [
      ...['-p', '--output-format', 'json', '--mode', 'ask', '--trust'],
      ...option('--model', call.model),
      inSections(call),
    ],
    input: '',
  }),
  read({ stdout }) {
    const result = lastEvent(stdout, Result);
    if (result === undefined) return undefined;
    return result.is_error ? { failure: result.result } : { text: result.result, usage: noUsage };
  },
  skillFolders: { user: '.cursor/skills', project: '.cursor/skills' },
  capabilities: { seesLoading: 'event', seesOffers: false, limitsTurns: false },
  keyVariables: [],
  provider: () => ({ baseURL: 'https://api.cursor.com', key: undefined, auth: 'bearer' }),
  signIn: ({ userHome }) => ({ '.cursor/cli-config.json': `${userHome}/.cursor/cli-config.json` }),
  keyrings: ['darwin', 'linux', 'win32'],
  launch: ({ model, prompt }) => ({
    args: [
      ...['-p', '--output-format', 'stream-json', '--force', '--trust'],
      ...option('--model', model),
      ...['--', prompt],
    ],
  }),
  reader: claudeReader('Skill'),
};

const Result = z.object({ type: z.literal('result'), is_error: z.boolean(), result: z.string().default('') });
