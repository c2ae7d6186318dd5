import { join } from 'node:path';
import { z } from 'zod';
import type { Usage } from '../../core/contracts/index.ts';
import type { AgentCall, AgentCli } from '../agent-cli.ts';
import { eventsLike, jsonEvents } from '../json-events.ts';

const Message = z.object({
  type: z.literal('item.completed'),
  item: z.object({ type: z.literal('agent_message'), text: z.string() }),
});
export const TurnCompleted = z.object({
  type: z.literal('turn.completed'),
  usage: z
    .object({
      input_tokens: z.number(),
      cached_input_tokens: z.number().default(0),
      output_tokens: z.number(),
      reasoning_output_tokens: z.number().default(0),
    })
    .transform(
      (told): Usage => ({
        input: told.input_tokens,
        cached: told.cached_input_tokens,
        output: told.output_tokens,
        reasoning: told.reasoning_output_tokens,
      }),
    ),
});
export const TurnFailed = z.object({ type: z.literal('turn.failed'), error: z.object({ message: z.string() }) });
const Retrying = z.object({ type: z.literal('error'), message: z.string().startsWith('Reconnecting') });

/** AGENTS.md in the CLI's own home is read whatever the settings say, so it gets another home, with the sign-in linked. */
export const codex: AgentCli = {
  name: 'codex-cli',
  binary: 'codex',
  installCommand: 'npm install -g @openai/codex',
  signInCommand: 'codex login',
  variables: () => ['CODEX_*', 'OPENAI_*'],
  signInFiles: (caller) => [signInFile(caller)],
  invoke: (call) => ({
    args: [...headless, ...(call.model === undefined ? [] : ['--model', call.model]), '-'],
    input: call.conversation,
    env: { CODEX_HOME: join(call.folder, 'home') },
    files: { 'home/config.toml': configText(call) },
    links: { 'home/auth.json': signInFile(call) },
  }),
  read({ stdout }) {
    const events = jsonEvents(stdout);
    const failed = eventsLike(events, TurnFailed).at(-1);
    if (failed !== undefined) return { failure: failed.error.message };
    const text = eventsLike(events, Message).at(-1)?.item.text;
    const usage = eventsLike(events, TurnCompleted).at(-1)?.usage;
    return text === undefined || usage === undefined ? undefined : { text, usage };
  },
  refusalIn(line) {
    const [retrying] = eventsLike(jsonEvents(line), Retrying);
    return retrying && { failure: /^[^(]*\((.*)\)$/.exec(retrying.message)?.[1] ?? retrying.message };
  },
};

const signInFile = ({ env, userHome }: Pick<AgentCall, 'env' | 'userHome'>) =>
  join(env.CODEX_HOME ?? join(userHome, '.codex'), 'auth.json');

const headless = [
  ...['exec', '--json', '--skip-git-repo-check', '--ephemeral', '--ignore-rules'],
  ...['--sandbox', 'read-only', '--color', 'never'],
];

const featuresOff = [
  ...['shell_tool', 'apps', 'plugins', 'multi_agent', 'hooks', 'view_image', 'image_generation', 'goals'],
  ...['sleep_tool', 'tool_suggest'],
];

/** A JSON string is a TOML string too. */
function configText({ system }: AgentCall): string {
  return [
    ...(system === '' ? [] : [`developer_instructions = ${JSON.stringify(system)}`]),
    'project_doc_max_bytes = 0',
    'include_apps_instructions = false',
    'include_environment_context = false',
    'include_collaboration_mode_instructions = false',
    'check_for_update_on_startup = false',
    'web_search = "disabled"',
    'skills = { include_instructions = false, bundled = { enabled = false } }',
    '[features]',
    ...featuresOff.map((feature) => `${feature} = false`),
    '[analytics]',
    'enabled = false',
    '',
  ].join('\n');
}
