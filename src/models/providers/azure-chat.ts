import type { LanguageModelV3 } from '@ai-sdk/provider';
import { type ChatModel, ModelCallError, SkillError } from '../../core/contracts/index.ts';
import { type ChatOptions, endpointModel, requireKey } from '../ai-sdk/endpoint-model.ts';
import { providerWords } from '../ai-sdk/provider-words.ts';
import { type Endpoint, endpointFetch, type ProviderEndpointOptions, parseEndpoint } from '../http/endpoint.ts';
import { apiFor, type OpenAIApi, openaiSettings, type ReasoningEffort, responsesSettings } from './openai-chat.ts';

/** `model` is the name of a deployment. */
export type AzureChatOptions = ChatOptions &
  AzureAddress &
  ProviderEndpointOptions & {
    /** A Microsoft Entra token, in place of a key. Asked for before every call, so it should cache. */
    readonly token?: (() => Promise<string>) | undefined;
    readonly reasoningEffort?: ReasoningEffort | undefined;
    /** Default: Responses for deployments named after models that answer to nothing else, else Chat Completions. */
    readonly api?: OpenAIApi | undefined;
  };

type Credentials = { readonly apiKey: string } | { readonly tokenProvider: () => Promise<string> };

/**
 * A deployment on Azure OpenAI, over Chat Completions or Responses. Signs in with `token`, else with `apiKey`, else with the variable
 * `AZURE_OPENAI_API_KEY` or `AZURE_API_KEY`. Throws `CONFIG_INVALID` when there is none, or no resource is named.
 */
export function azureChat(options: AzureChatOptions): ChatModel {
  const { token, headers, reasoningEffort, api = apiFor(options.model) } = options;
  // Responses is not among the older addresses.
  const apiVersion = api === 'responses' && isDated(options.apiVersion) ? undefined : options.apiVersion;
  const apiKey = token === undefined ? findKey(options) : refuseSecondKey(options);
  const key = apiKey === undefined ? {} : { 'api-key': apiKey };
  const parsed = parseEndpoint({ baseURL: azureBaseURL(options), headers: { ...key, ...headers } });
  const secrets = [...parsed.secrets];
  const endpoint = { ...parsed, secrets };
  const credentials =
    apiKey === undefined ? { tokenProvider: () => fetchToken(token!, secrets, options.model) } : { apiKey };
  return endpointModel(options, {
    provider: 'azure',
    endpoint,
    path: pathOf(options.model, api, apiVersion),
    settings: { apiVersion, reasoningEffort, api: options.api },
    prepare: api === 'responses' ? responsesSettings(reasoningEffort) : openaiSettings(reasoningEffort),
    structuredOutput: options.structuredOutput ?? 'auto',
    load: () => loadModel({ model: options.model, apiVersion, api }, credentials, endpoint),
  });
}

const findKey = ({ apiKey }: AzureChatOptions) =>
  requireKey(apiKey, { provider: 'azureChat', variables: ['AZURE_OPENAI_API_KEY', 'AZURE_API_KEY'] });

function refuseSecondKey({ apiKey }: AzureChatOptions): undefined {
  if (apiKey === undefined) return;
  throw new SkillError('CONFIG_INVALID', 'azureChat got both apiKey and token', { hint: 'Pass one of them.' });
}

/** Notes every token among the secrets before it is sent. */
async function fetchToken(token: () => Promise<string>, secrets: string[], model: string): Promise<string> {
  const value = await token().catch((error: unknown) => {
    const words = providerWords(error instanceof Error ? error.message : String(error), secrets);
    throw new ModelCallError(`no token for ${model} on Azure: ${words}`, {
      isRetryable: false,
      isFatal: true,
      hint: (error instanceof SkillError && error.hint) || 'The function given as token failed.',
    });
  });
  if (!secrets.includes(value)) secrets.push(value);
  return value;
}

function pathOf(model: string, api: OpenAIApi, apiVersion: string | undefined): string {
  if (api === 'responses') return '/responses';
  return isDated(apiVersion) ? `/deployments/${model}/chat/completions` : '/chat/completions';
}

type AzureDeployment = Pick<AzureChatOptions, 'model' | 'apiVersion'> & { readonly api: OpenAIApi };

async function loadModel(
  { model, apiVersion, api }: AzureDeployment,
  credentials: Credentials,
  endpoint: Endpoint,
): Promise<LanguageModelV3> {
  const { createAzure } = await import('@ai-sdk/azure');
  const provider = createAzure({
    ...credentials,
    baseURL: endpoint.baseURL,
    headers: { ...endpoint.headers },
    fetch: endpointFetch(endpoint),
    ...(apiVersion === undefined ? {} : { apiVersion }),
    useDeploymentBasedUrls: isDated(apiVersion),
  });
  return provider[api](model);
}

type AzureAddress = {
  /** The name in `https://NAME.openai.azure.com`. */
  readonly resource?: string | undefined;
  /** In place of `resource`: the endpoint as the portal shows it, or a gateway. */
  readonly baseURL?: string | undefined;
  /** A dated one (2024-12-01-preview) takes the older addresses, with the deployment in the path. */
  readonly apiVersion?: string | undefined;
};

/** Where a resource is. Throws `CONFIG_INVALID` when neither the options nor the environment say. */
function azureBaseURL({ resource, baseURL, apiVersion }: AzureAddress): string {
  if (baseURL) return completed(baseURL, apiVersion);
  if (resource) return `https://${resource}.openai.azure.com/openai`;
  const { AZURE_OPENAI_ENDPOINT, AZURE_RESOURCE_NAME } = process.env;
  if (AZURE_OPENAI_ENDPOINT) return completed(AZURE_OPENAI_ENDPOINT, apiVersion);
  if (AZURE_RESOURCE_NAME) return `https://${AZURE_RESOURCE_NAME}.openai.azure.com/openai`;
  throw new SkillError('CONFIG_INVALID', 'azureChat needs to know which resource: no resource and no baseURL', {
    hint: 'Name it: { resource: NAME }, or export AZURE_OPENAI_ENDPOINT=https://NAME.openai.azure.com',
  });
}

const isDated = (apiVersion: string | undefined): boolean => /^\d{4}-/.test(apiVersion ?? '');

/** The portal shows the host alone; dated versions live beside `/openai/v1`, not below it. */
function completed(baseURL: string, apiVersion: string | undefined): string {
  const url = URL.canParse(baseURL) ? new URL(baseURL) : undefined;
  if (!url?.hostname.endsWith('.azure.com')) return baseURL;
  if (url.pathname === '/') url.pathname = '/openai';
  if (isDated(apiVersion)) url.pathname = url.pathname.replace(/\/v1\/?$/, '');
  return url.href;
}
