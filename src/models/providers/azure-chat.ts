import { type ChatModel, ModelCallError, SkillError } from '../../core/contracts/index.ts';
import { knowKey } from '../../core/guard/index.ts';
import { type ChatOptions, endpointModel, requireKey } from '../ai-sdk/endpoint-model.ts';
import { providerWords } from '../ai-sdk/provider-words.ts';
import { type ProviderEndpointOptions, parseEndpoint, sdkSettings } from '../endpoint.ts';
import { apiFor, type OpenAIApi, openaiSettings, type ReasoningEffort } from './openai-chat.ts';

/** `model` is the name of a deployment. */
export type AzureChatOptions = ChatOptions &
  AzureAddress &
  ProviderEndpointOptions & {
    /** Gives a Microsoft Entra token, in place of a key. Called before every call, so it should cache. */
    readonly token?: (() => Promise<string>) | undefined;
    readonly reasoningEffort?: ReasoningEffort | undefined;
    /** Default: Responses for deployments named after models that answer to nothing else, else Chat Completions. */
    readonly api?: OpenAIApi | undefined;
  };

type AzureAddress = {
  /** The name in `https://NAME.openai.azure.com`. */
  readonly resource?: string | undefined;
  /** In place of `resource`: the endpoint as the portal shows it, or a gateway. */
  readonly baseURL?: string | undefined;
  /** A dated one (2024-12-01-preview) takes the older addresses, with the deployment in the path. */
  readonly apiVersion?: string | undefined;
};

/**
 * A deployment on Azure OpenAI, over Chat Completions or Responses. Signs in with `token`, with `apiKey`, or with the
 * variable `AZURE_OPENAI_API_KEY` or `AZURE_API_KEY`. Throws `CONFIG_INVALID` without one, or without a resource.
 */
export function azureChat(options: AzureChatOptions): ChatModel {
  const { model, token, headers, reasoningEffort, api = apiFor(options.model) } = options;
  // Responses is not among the older addresses.
  const apiVersion = api === 'responses' && isDated(options.apiVersion) ? undefined : options.apiVersion;
  const apiKey = findKey(options);
  const key = apiKey === undefined ? {} : { 'api-key': apiKey };
  const endpoint = parseEndpoint({ baseURL: azureBaseURL(options), headers: { ...key, ...headers } });
  const credentials = token ? { tokenProvider: () => fetchToken(token, model) } : { apiKey: apiKey! };
  return endpointModel(options, {
    provider: 'azure',
    endpoint,
    path: pathOf(model, api, apiVersion),
    settings: { apiVersion, reasoningEffort, api: options.api },
    prepare: openaiSettings(api, reasoningEffort),
    structuredOutput: options.structuredOutput ?? 'auto',
    async load() {
      const { createAzure } = await import('@ai-sdk/azure');
      const version = apiVersion === undefined ? {} : { apiVersion };
      const provider = createAzure({
        ...sdkSettings(endpoint),
        ...credentials,
        ...version,
        useDeploymentBasedUrls: isDated(apiVersion),
      });
      return provider[api](model);
    },
  });
}

/** Undefined where a token takes its place. */
function findKey({ apiKey, token }: AzureChatOptions): string | undefined {
  if (token === undefined)
    return requireKey(apiKey, { provider: 'azureChat', variables: ['AZURE_OPENAI_API_KEY', 'AZURE_API_KEY'] });
  if (apiKey === undefined) return undefined;
  throw new SkillError('CONFIG_INVALID', 'azureChat got both apiKey and token', { hint: 'Pass one of them.' });
}

/** Every token is known as a key before it is sent. */
async function fetchToken(token: () => Promise<string>, model: string): Promise<string> {
  const value = await token().catch((error: unknown) => {
    const words = providerWords(error instanceof Error ? error.message : String(error));
    throw new ModelCallError(`no token for ${model} on Azure: ${words}`, {
      isRetryable: false,
      isFatal: true,
      hint: (error instanceof SkillError && error.hint) || 'The function given as token failed.',
    });
  });
  knowKey(value);
  return value;
}

function pathOf(model: string, api: OpenAIApi, apiVersion: string | undefined): string {
  if (api === 'responses') return '/responses';
  return isDated(apiVersion) ? `/deployments/${model}/chat/completions` : '/chat/completions';
}

/** Throws `CONFIG_INVALID` when neither the options nor the environment name a resource. */
function azureBaseURL({ resource, baseURL, apiVersion }: AzureAddress): string {
  const { AZURE_OPENAI_ENDPOINT, AZURE_RESOURCE_NAME } = process.env;
  const [url, name] = baseURL || resource ? [baseURL, resource] : [AZURE_OPENAI_ENDPOINT, AZURE_RESOURCE_NAME];
  if (url) return completed(url, apiVersion);
  if (name) return `https://${name}.openai.azure.com/openai`;
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
