import { z } from 'zod';
import { type AgentCliName, agentChat, agentClis } from '../../agents/index.ts';
import { define, type Provider } from './provider.ts';

/** Agent CLIs that are installed and signed in: they need no key of ours. */
export const agentProviders: Readonly<Record<string, Provider>> = Object.fromEntries(
  Object.values(agentClis).map(({ cli }) => [cli, agentProvider(cli)]),
);

function agentProvider(cli: AgentCliName): Provider {
  return define({
    usage: `${cli}:MODEL`,
    options: z.strictObject({
      model: z.string().min(1).optional(),
      path: z.string().min(1).optional(),
      timeoutMs: z.number().int().positive().optional(),
      passEnv: z.array(z.string().min(1)).optional(),
    }),
    fromText: (model) => (model === '' ? {} : { model }),
    async create(options, context) {
      const { namedProgram, pinnedProgram } = await import('./agent-pins.ts');
      const { env: inherited, directory: project = process.cwd(), notices } = context;
      const wanted = { cli, env: inherited, project, notices };
      // now, so that a CLI that is not there is known before any call
      const program = options.path === undefined ? await pinnedProgram(wanted) : namedProgram(options.path, wanted);
      return agentChat({ cli, ...options, ...program, inherited, project });
    },
  });
}
