import { SkillError } from '../../core/contracts/index.ts';

export type AzureAddress = {
  /** The name in `https://NAME.openai.azure.com`. */
  readonly resource?: string | undefined;
  /** In place of `resource`: the endpoint as the portal shows it, or a gateway. */
  readonly baseURL?: string | undefined;
  /** A dated one (2024-12-01-preview) takes the older addresses, with the deployment in the path. */
  readonly apiVersion?: string | undefined;
};

/** Where a resource is. Throws `CONFIG_INVALID` when neither the options nor the environment say. */
export function azureBaseURL({ resource, baseURL, apiVersion }: AzureAddress): string {
  if (baseURL) return completed(baseURL, apiVersion);
  if (resource) return `https://${resource}.openai.azure.com/openai`;
  const { AZURE_OPENAI_ENDPOINT, AZURE_RESOURCE_NAME } = process.env;
  if (AZURE_OPENAI_ENDPOINT) return completed(AZURE_OPENAI_ENDPOINT, apiVersion);
  if (AZURE_RESOURCE_NAME) return `https://${AZURE_RESOURCE_NAME}.openai.azure.com/openai`;
  throw new SkillError('CONFIG_INVALID', 'azureChat needs to know which resource: no resource and no baseURL', {
    hint: 'Name it: { resource: NAME }, or export AZURE_OPENAI_ENDPOINT=https://NAME.openai.azure.com',
  });
}

export const isDated = (apiVersion: string | undefined): boolean => /^\d{4}-/.test(apiVersion ?? '');

/** The portal shows the host alone; dated versions live beside `/openai/v1`, not below it. */
function completed(baseURL: string, apiVersion: string | undefined): string {
  const url = URL.canParse(baseURL) ? new URL(baseURL) : undefined;
  if (!url?.hostname.endsWith('.azure.com')) return baseURL;
  if (url.pathname === '/') url.pathname = '/openai';
  if (isDated(apiVersion)) url.pathname = url.pathname.replace(/\/v1\/?$/, '');
  return url.href;
}
