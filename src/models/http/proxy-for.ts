type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The proxy that the environment names for `url`, or undefined for a direct connection. Reads `HTTPS_PROXY`,
 * `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY` in either case, lower case first; an empty variable is none.
 */
export function proxyFor(url: URL, environment: Environment): string | undefined {
  const exemptions = (read(environment, 'no_proxy') ?? '').split(/[,\s]+/).filter(Boolean);
  if (exemptions.some((exemption) => isExempt(url, exemption.toLowerCase()))) return undefined;
  const names = url.protocol === 'https:' ? ['https_proxy', 'all_proxy', 'http_proxy'] : ['http_proxy', 'all_proxy'];
  const proxy = names.map((name) => read(environment, name)).find((value) => value !== undefined);
  return proxy === undefined || proxy.includes('://') ? proxy : `http://${proxy}`;
}

function read(environment: Environment, name: string): string | undefined {
  return environment[name] || environment[name.toUpperCase()] || undefined;
}

/** `*`, a host with its subdomains (`example.com`, `.example.com`, `*.example.com`), or either with a port. */
function isExempt(url: URL, exemption: string): boolean {
  if (exemption === '*') return true;
  const [, host = exemption, port] = /^([^:]+|\[.*\]):(\d+)$/.exec(exemption) ?? [];
  const domain = host.replace(/^\*?\./, '');
  const isPortMatched = port === undefined || port === (url.port || (url.protocol === 'https:' ? '443' : '80'));
  const hostname = url.hostname.replace(/^\[|\]$/g, '');
  return isPortMatched && (hostname === domain.replace(/^\[|\]$/g, '') || hostname.endsWith(`.${domain}`));
}
