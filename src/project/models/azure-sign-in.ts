import { SkillError } from '../../core/contracts/index.ts';
import { azToken } from './az-token.ts';
import type { ModelContext } from './provider.ts';

type SignInOptions = {
  /** `key`, or Microsoft Entra ID. Default: what is found. */
  readonly auth?: 'key' | 'entra' | undefined;
  readonly apiKeyEnv?: string | undefined;
};

type Credentials = ReturnType<ModelContext['readKey']> | { readonly token: () => Promise<string> };

const KEYS = ['AZURE_OPENAI_API_KEY', 'AZURE_API_KEY'];
const TOKEN = 'AZURE_OPENAI_AD_TOKEN';

/**
 * What `azureChat` signs in with. Unless the options say: a token in the environment, else a key there, else the account
 * that is signed in to the Azure CLI. Without one it throws here, before any call.
 */
export async function azureSignIn({ auth, apiKeyEnv }: SignInOptions, context: ModelContext): Promise<Credentials> {
  const { readKey, readSetting } = context;
  if (auth === 'key' || (auth === undefined && apiKeyEnv !== undefined)) {
    return apiKeyEnv === undefined ? readKey(...KEYS) : readKey(apiKeyEnv);
  }
  const given = readSetting(TOKEN);
  if (given) return { token: async () => given };
  if (auth === undefined && KEYS.some(readSetting)) return readKey(...KEYS);
  const token = azToken({ PATH: readSetting('PATH'), PATHEXT: readSetting('PATHEXT') });
  if (token === undefined) throw nothingFound(auth, context);
  await token();
  return { token };
}

function nothingFound(auth: SignInOptions['auth'], { role }: ModelContext): SkillError {
  const variables = [...(auth === 'entra' ? [] : KEYS), TOKEN];
  const missing = variables.length === 1 ? `${TOKEN} is not set` : `none of ${variables.join(', ')} is set`;
  const withKey = `Set a key: export ${KEYS[0]}=… (or write ${KEYS[0]}=… into the file .env beside the project file). `;
  const withEntra = `For Entra ID: install the Azure CLI and run az login, or export ${TOKEN}=…`;
  const message = `the ${role} (azure) cannot sign in: ${missing}, and the command az is not installed`;
  return new SkillError('CONFIG_INVALID', message, {
    hint: auth === 'entra' ? withEntra : withKey + withEntra,
  });
}
