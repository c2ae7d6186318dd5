import { delimiter, dirname } from 'node:path';
import type { AgentCli, Environment, Located } from './agent-cli.ts';

/** What any program needs: who and where its user is, how to speak, how to reach the network, and where sign-ins are kept. */
const COMMON = [
  ...['HOME', 'USER', 'LOGNAME', 'SHELL', 'TERM', 'COLORTERM', 'TZ', 'LANG', 'LANGUAGE', 'LC_*', 'TMPDIR', 'XDG_*'],
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'all_proxy', 'no_proxy'],
  ...['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR'],
  ...['DBUS_SESSION_BUS_ADDRESS', '__CF_USER_TEXT_ENCODING'], // keyrings
];

const WINDOWS = [
  ...['SYSTEMROOT', 'SYSTEMDRIVE', 'WINDIR', 'COMSPEC', 'PATHEXT', 'TEMP', 'TMP', 'OS', 'PROCESSOR_ARCHITECTURE'],
  ...['USERPROFILE', 'USERNAME', 'USERDOMAIN', 'HOMEDRIVE', 'HOMEPATH', 'APPDATA', 'LOCALAPPDATA', 'PROGRAMDATA'],
  ...['PROGRAMFILES', 'PROGRAMFILES(X86)', 'NUMBER_OF_PROCESSORS'],
];

const isWindows = process.platform === 'win32';

type Child = {
  readonly cli: AgentCli;
  readonly model?: string | undefined;
  readonly program: Located;
  readonly inherited: Environment;
  /** Names of further variables to inherit. */
  readonly passEnv?: readonly string[] | undefined;
};

/**
 * The variables that a CLI inherits: what every program needs, and its own settings and keys. Whatever else its caller has,
 * such as keys of a database or of another service, is none of its business. The search path leads to the program, to what
 * lies beside it, and to the system.
 */
export function childEnvironment({ cli, model, program, inherited, passEnv = [] }: Child): Environment {
  const allowed = [...COMMON, ...(isWindows ? WINDOWS : []), ...cli.variables({ env: inherited, model }), ...passEnv];
  const kept = Object.entries(inherited).filter(([name]) => allowed.some((pattern) => matches(name, pattern)));
  return { PATH: searchPathOf(program, inherited), ...Object.fromEntries(kept) };
}

/** A pattern is a name, or its beginning with a star behind it. Windows has one name for `Path` and `PATH`. */
function matches(name: string, pattern: string): boolean {
  const same = (text: string) => (isWindows ? text.toUpperCase() : text);
  return pattern.endsWith('*') ? same(name).startsWith(same(pattern.slice(0, -1))) : same(name) === same(pattern);
}

/** Many CLIs are scripts for Node: theirs lies beside the link to them, and otherwise ours will do. */
function searchPathOf({ path, foundAt }: Located, env: Environment): string {
  const own = [foundAt, path, process.execPath].map((file) => dirname(file));
  const system = isWindows
    ? ['System32', 'System32\\WindowsPowerShell\\v1.0'].map((name) => `${env.SystemRoot ?? 'C:\\Windows'}\\${name}`)
    : ['/usr/local/bin', '/usr/bin', '/bin', '/usr/sbin', '/sbin'];
  return [...new Set([...own, ...system])].join(delimiter);
}

/** Keys of providers of models, for CLIs that talk to many of them. */
export const PROVIDER_KEYS = [
  ...['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'ANTHROPIC_OAUTH_TOKEN', 'ANTHROPIC_BASE_URL'],
  ...['OPENAI_API_KEY', 'OPENAI_BASE_URL', 'OPENAI_ORG_ID', 'AZURE_OPENAI_*', 'AZURE_API_KEY', 'AZURE_RESOURCE_NAME'],
  ...['GEMINI_API_KEY', 'GOOGLE_API_KEY', 'GOOGLE_GENERATIVE_AI_API_KEY', 'OPENROUTER_API_KEY', 'AI_GATEWAY_API_KEY'],
  ...['GROQ_API_KEY', 'CEREBRAS_API_KEY', 'XAI_API_KEY', 'ZAI_API_KEY', 'ZHIPU_API_KEY', 'MISTRAL_API_KEY'],
  ...['DEEPSEEK_API_KEY', 'MOONSHOT_API_KEY', 'KIMI_API_KEY', 'MINIMAX_API_KEY', 'DASHSCOPE_API_KEY', 'HF_TOKEN'],
  ...['TOGETHER_API_KEY', 'FIREWORKS_API_KEY', 'DEEPINFRA_API_KEY', 'BASETEN_API_KEY', 'COHERE_API_KEY'],
  ...['PERPLEXITY_API_KEY', 'NVIDIA_API_KEY', 'OLLAMA_API_KEY', 'LMSTUDIO_API_KEY', 'COPILOT_GITHUB_TOKEN'],
];

/** Sign-ins of clouds that serve models, for a CLI that was told to use one. */
export const AMAZON = ['AWS_*'];
export const GOOGLE_CLOUD = [
  ...['GOOGLE_APPLICATION_CREDENTIALS', 'GOOGLE_CLOUD_*', 'GOOGLE_VERTEX_*', 'GCLOUD_PROJECT', 'CLOUD_ML_REGION'],
  ...['CLOUDSDK_CONFIG', 'VERTEX_*'],
];
