import { execa } from 'execa';
import { findBinary } from '../../agents/index.ts';
import { SkillError } from '../../core/contracts/index.ts';

type SearchPath = { readonly PATH: string | undefined; readonly PATHEXT: string | undefined };
type Token = { readonly value: string; readonly expiresAt: number };

const ARGUMENTS = ['account', 'get-access-token', '--resource', 'https://cognitiveservices.azure.com'];

/** Asked for again so long before it expires: a call may stand in line, and clocks differ. */
const MARGIN_MS = 5 * 60_000;

const HINT = 'Run: az login. Or export AZURE_OPENAI_AD_TOKEN=…, or use a key: export AZURE_OPENAI_API_KEY=…';

/**
 * A token of the account that is signed in to the Azure CLI, kept until shortly before it expires. Undefined when there is no
 * such command.
 */
export function azToken(path: SearchPath): (() => Promise<string>) | undefined {
  const az = findBinary('az', path);
  if (az === undefined) return undefined;
  let latest: Promise<Token> | undefined;
  return async () => {
    latest = latest?.then((token) => (isFresh(token) ? token : runAz(az, path))) ?? runAz(az, path);
    const asked = latest;
    asked.catch(() => {
      if (latest === asked) latest = undefined; // who signs in meanwhile is let in
    });
    return (await asked).value;
  };
}

const isFresh = ({ expiresAt }: Token) => Date.now() < expiresAt - MARGIN_MS;

async function runAz(az: string, { PATH }: SearchPath): Promise<Token> {
  const env = PATH === undefined ? {} : { PATH };
  const options = { env, stdin: 'ignore', timeout: 60_000, reject: false } as const;
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

function noToken(words: string): SkillError {
  return new SkillError('CONFIG_INVALID', `the Azure CLI gave no token: ${words}`, { hint: HINT });
}
