import { findBinary } from '../../agents/index.ts';
import { SkillError } from '../../core/contracts/index.ts';
import type { ModelContext } from './provider.ts';
import { type Address, keyFor, requireOwn, USUAL_KEYS } from './usual-key.ts';

/** `key`, or Microsoft Entra ID. Default: what is found. */
type SignInOptions = {
  readonly apiKeyEnv?: string | undefined;
  readonly auth?: 'key' | 'entra' | undefined;
  /** Where the deployment is called, if that is known here. */
  readonly address?: Address | undefined;
};

type Credentials = ReturnType<ModelContext['readKey']> | { readonly token: () => Promise<string> };

const KEYS = USUAL_KEYS.azure.keys;
const TOKEN = 'AZURE_OPENAI_AD_TOKEN';

/** By default a token in the environment, else a key there, else the account of the Azure CLI. Throws if there is none. */
export async function azureSignIn(options: SignInOptions, context: ModelContext): Promise<Credentials> {
  const { auth, apiKeyEnv, address } = options;
  const { readSetting } = context;
  if (auth === 'key' || (auth === undefined && apiKeyEnv !== undefined))
    return keyFor('azure', { apiKeyEnv }, context, address);
  const given = readSetting(TOKEN);
  if (given) {
    requireOwn('azure', address, context, TOKEN);
    return { token: async () => given };
  }
  if (auth === undefined && KEYS.some(readSetting)) return keyFor('azure', {}, context, address);
  const token = azToken({ PATH: readSetting('PATH'), PATHEXT: readSetting('PATHEXT') });
  if (token === undefined) throw nothingFound(auth, context);
  requireOwn('azure', address, context);
  await token();
  return { token };
}

function nothingFound(auth: SignInOptions['auth'], { role }: ModelContext): SkillError {
  const variables = [...(auth === 'entra' ? [] : KEYS), TOKEN];
  const missing = variables.length === 1 ? `${TOKEN} is not set` : `none of ${variables.join(', ')} is set`;
  const withKey = `Set a key: export ${KEYS[0]}=… (or write ${KEYS[0]}=… into the file .env beside the project file). `;
  const withEntra = `For Entra ID: install the Azure CLI and run az login, or export ${TOKEN}=…`;
  const message = `the ${role} (azure) cannot sign in: ${missing}, and the command az is not installed`;
  return new SkillError('CONFIG_INVALID', message, { hint: auth === 'entra' ? withEntra : withKey + withEntra });
}

type SearchPath = { readonly PATH: string | undefined; readonly PATHEXT: string | undefined };
type Token = { readonly value: string; readonly expiresAt: number };

const ARGUMENTS = ['account', 'get-access-token', '--resource', 'https://cognitiveservices.azure.com'];

/** A new token is requested this long before the old one expires: a call may wait in a queue, and clocks differ. */
const MARGIN_MS = 5 * 60_000;

/** The token of the Azure CLI, kept until shortly before it expires. Undefined if the CLI is not installed. */
function azToken(path: SearchPath): (() => Promise<string>) | undefined {
  const az = findBinary('az', path);
  if (az === undefined) return undefined;
  let latest: Promise<Token> | undefined;
  return async () => {
    latest = latest?.then((token) => (isFresh(token) ? token : runAz(az, path))) ?? runAz(az, path);
    const asked = latest;
    asked.catch(() => {
      if (latest === asked) latest = undefined; // after a sign-in the next call may succeed
    });
    return (await asked).value;
  };
}

const isFresh = ({ expiresAt }: Token) => Date.now() < expiresAt - MARGIN_MS;

async function runAz(az: string, { PATH }: SearchPath): Promise<Token> {
  const env = PATH === undefined ? {} : { PATH };
  const options = { env, stdin: 'ignore', timeout: 60_000, reject: false } as const;
  const { execa } = await import('execa');
  const { failed, stdout, stderr, shortMessage = '' } = await execa(az, [...ARGUMENTS, '--output', 'json'], options);
  if (failed) throw noToken(stderr.trim().split('\n').at(-1) || shortMessage);
  return parseToken(stdout);
}

/** `expires_on` is in seconds; older versions have only `expiresOn`, in local time. */
function parseToken(text: string): Token {
  try {
    const { accessToken, expires_on: seconds, expiresOn } = JSON.parse(text);
    if (typeof accessToken !== 'string' || accessToken === '') throw new Error('accessToken is missing');
    return { value: accessToken, expiresAt: seconds ? Number(seconds) * 1000 : Date.parse(expiresOn) };
  } catch {
    throw noToken('it printed no JSON with an accessToken');
  }
}

const noToken = (words: string) =>
  new SkillError('CONFIG_INVALID', `the Azure CLI gave no token: ${words}`, {
    hint: 'Run: az login. Or export AZURE_OPENAI_AD_TOKEN=…, or use a key: export AZURE_OPENAI_API_KEY=…',
  });
