import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { AgentCall, AgentCli } from '../agent-cli.ts';
import { GOOGLE_CLOUD } from '../child-environment.ts';
import { eventsLike, jsonEvents } from '../json-events.ts';

const Tokens = z.object({
  prompt: z.number().default(0),
  cached: z.number().default(0),
  candidates: z.number().default(0),
  thoughts: z.number().default(0),
});
const Response = z.object({
  response: z.string(),
  stats: z.object({ models: z.record(z.string(), z.object({ tokens: Tokens })) }),
});
const Failed = z.object({ error: z.object({ message: z.string(), code: z.unknown() }) });

/** GEMINI.md in the user's home is always read, so the CLI gets another home, with the sign-in linked into it. */
export const gemini: AgentCli = {
  name: 'gemini-cli',
  binary: 'gemini',
  installCommand: 'npm install -g @google/gemini-cli',
  signInCommand: 'gemini (sign in once, then leave it)',
  variables: () => [
    ...['GEMINI_*', 'GOOGLE_API_KEY', 'GOOGLE_GEMINI_*', 'GOOGLE_GENAI_*', 'CODE_ASSIST_ENDPOINT'],
    ...GOOGLE_CLOUD,
  ],
  signInFiles: (caller) =>
    ['oauth_creds.json', 'gemini-credentials.json'].map((name) => join(userFolder(caller), name)),
  invoke: (call) => ({
    args: ['--output-format', 'json', '--extensions', 'none', ...(call.model === undefined ? [] : ['-m', call.model])],
    input: call.conversation,
    env: {
      GEMINI_CLI_HOME: join(call.folder, 'home'),
      GEMINI_CLI_TRUST_WORKSPACE: 'true',
      GEMINI_SYSTEM_MD: join(call.folder, 'system.md'),
    },
    files: { 'home/.gemini/settings.json': settingsText(call), 'system.md': call.system || 'Answer the user.' },
    links: Object.fromEntries(
      credentials.map((name) => [`home/.gemini/${name}`, join(userFolder(call), name)] as const),
    ),
  }),
  read({ stdout, stderr }) {
    const answer = eventsLike(jsonEvents(stdout), Response).at(-1);
    if (answer !== undefined) return { text: answer.response, usage: sumTokens(Object.values(answer.stats.models)) };
    const failed = eventsLike([...jsonEvents(stdout), ...jsonEvents(lastObject(stderr))], Failed).at(-1)?.error;
    if (failed === undefined) return undefined;
    const { message, code } = failed;
    return { failure: message, status: typeof code === 'number' && code >= 300 ? code : undefined };
  },
};

const credentials = ['oauth_creds.json', 'google_accounts.json', 'gemini-credentials.json', 'installation_id'];

const userFolder = ({ env, userHome }: Pick<AgentCall, 'env' | 'userHome'>) =>
  join(env.GEMINI_CLI_HOME ?? userHome, '.gemini');

/** Of the user's settings, only the way of signing in. */
function settingsText(call: AgentCall): string {
  const off = { enabled: false };
  return JSON.stringify({
    security: { auth: userAuth(join(userFolder(call), 'settings.json')) },
    context: { includeDirectoryTree: false, memoryBoundaryMarkers: [] }, // nothing from the folders above
    skills: off,
    hooksConfig: off,
    tools: { core: [] },
    admin: { extensions: off, mcp: off },
    general: { enableAutoUpdate: false, maxAttempts: 1 }, // retrying is ours
    privacy: { usageStatisticsEnabled: false },
    telemetry: off,
  });
}

function userAuth(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8')).security?.auth;
  } catch {
    return undefined; // none, or one the CLI could not read either: it then says how to sign in
  }
}

/** Failures are printed below warnings, as one object over several lines. */
const lastObject = (text: string) => text.slice(Math.max(text.lastIndexOf('\n{\n'), 0));

function sumTokens(models: readonly { readonly tokens: z.infer<typeof Tokens> }[]) {
  const sum = (key: keyof z.infer<typeof Tokens>) => models.reduce((total, { tokens }) => total + tokens[key], 0);
  return {
    input: sum('prompt'),
    cached: sum('cached'),
    output: sum('candidates') + sum('thoughts'),
    reasoning: sum('thoughts'),
  };
}
