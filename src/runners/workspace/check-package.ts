import { parseAllDocuments } from 'yaml';
import type { Sandbox } from '../../core/contracts/index.ts';
import { type PackageFiles, partOf } from '../../core/document/index.ts';
import { oneLine } from '../../core/text/index.ts';

const PARSE_PYTHON = 'import ast, sys; ast.parse(open(sys.argv[1], encoding="utf-8").read(), sys.argv[1])';

/** How a language is read without being run, and how it is run. */
type Language = { readonly parse: readonly string[]; readonly run: readonly string[] };

const LANGUAGES: readonly (readonly [RegExp, RegExp, Language])[] = [
  [/\.bash$/i, /^#!.*\bbash\b/, { parse: ['bash', '-n'], run: ['bash'] }],
  [/\.sh$/i, /^#!.*\b(?:sh|dash)\b/, { parse: ['sh', '-n'], run: ['sh'] }],
  [/\.py$/i, /^#!.*\bpython/, { parse: ['python3', '-c', PARSE_PYTHON], run: ['python3'] }],
  [/\.[cm]?js$/i, /^#!.*\bnode\b/, { parse: ['node', '--check'], run: ['node'] }],
];

/** A first line that says what runs it counts more than a name. */
function languageOf(path: string, text: string): Language | undefined {
  const byLine = LANGUAGES.find(([, line]) => line.test(text));
  return (byLine ?? LANGUAGES.find(([name]) => name.test(path)))?.[2];
}

type Checked = { readonly candidate: PackageFiles; readonly parent: PackageFiles; readonly sandbox: Sandbox };

/** What is wrong with a file of the candidate that its parent has not, or has without a fault. */
export async function checkPackage({ candidate, parent, sandbox }: Checked): Promise<string | undefined> {
  const changed = Object.keys(candidate).filter((path) => candidate[path] !== parent[path]);
  for (const path of changed) {
    const fault = await faultIn(path, candidate, sandbox);
    if (fault === undefined) continue;
    const isOld = parent[path] !== undefined && (await faultIn(path, parent, sandbox)) !== undefined;
    if (!isOld) return fault;
  }
  return undefined;
}

async function faultIn(path: string, files: PackageFiles, sandbox: Sandbox): Promise<string | undefined> {
  const text = files[path]!;
  if (/\.json$/i.test(path)) return readFault(path, 'JSON', () => JSON.parse(text));
  if (/\.ya?ml$/i.test(path)) return readFault(path, 'YAML', () => requireYaml(text));
  const language = partOf(path) === 'scripts' ? languageOf(path, text) : undefined;
  if (!language) return undefined;
  const run = (words: readonly string[]) => runIfThere(words, files, sandbox);
  const unread = await run([...language.parse, path]);
  if (unread !== undefined) return `${path} does not parse: ${unread}`;
  const failed = text.includes('--self-check') ? await run([...language.run, path, '--self-check']) : undefined;
  return failed === undefined ? undefined : `${path} fails its own check: ${failed}`;
}

function readFault(path: string, format: string, read: () => unknown): string | undefined {
  try {
    read();
    return undefined;
  } catch (error) {
    return `${path} is not ${format}: ${oneLine((error as Error).message).slice(0, 200)}`;
  }
}

function requireYaml(text: string): void {
  for (const { errors } of parseAllDocuments(text, { logLevel: 'error' })) if (errors[0]) throw errors[0];
}

const SOON_MS = 30_000;
/** What is not installed cannot judge. */
const IF_THERE = 'command -v "$1" >/dev/null 2>&1 || exit 0; exec "$@"';

/** What a command complains of, if it does. It sees the package, no network, and nothing of ours. */
async function runIfThere(
  words: readonly string[],
  files: PackageFiles,
  sandbox: Sandbox,
): Promise<string | undefined> {
  const command = ['/bin/sh', '-c', IF_THERE, 'sh', ...words];
  const { exitCode, timedOut, stderr, stdout } = await sandbox.run({ command, files, env: {}, timeoutMs: SOON_MS });
  if (exitCode === 0) return undefined;
  const said = oneLine(stderr.trim() || stdout.trim()).slice(-300);
  return timedOut ? `it did not end within ${SOON_MS / 1000} s` : said || `it ended with ${exitCode ?? 'a signal'}`;
}
