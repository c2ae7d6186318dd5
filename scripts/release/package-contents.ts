import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { keyBlocks, knownKeys } from '../../src/core/guard/redact/known-keys.ts';
import { redactSecrets } from '../../src/core/guard/redact/redact-secrets.ts';
import { filesIn, manifest, PACKAGE, packedSize } from './package.ts';
import { output, shipped } from './source-checks.ts';

const [MOST_BYTES, MOST_FILES] = [2_000_000, 2_300];

const REQUIRED = [
  ...['package.json', 'README.md', 'LICENSE', 'CHANGELOG.md', 'SECURITY.md', 'THIRD_PARTY.md', 'docs/README.md'],
  ...['dist/web/index.html', 'plugin/plugin.json', 'examples/quickstart.ts'],
  ...['.claude-plugin/marketplace.json', '.agents/plugins/marketplace.json'],
];
/** Nobody who uses the package needs these. */
const UNWANTED =
  /(?:^|\/)(?:node_modules|\.git|\.cache|\.idea|\.vscode)\/|\.(?:tgz|map|log|tsbuildinfo)$|^(?:src|scripts|bench|test|runs)\/|^docs\/(?:decisions|quality)\/|^(?:AGENTS|CONTRIBUTING)\.md$/;

/** What is in the package, beside what was built, is what was committed. */
export function findOddContents(): string[] {
  const files = new Set(filesIn(PACKAGE));
  const { bin, exports } = manifest();
  const entries = Object.values(exports).flatMap((entry) =>
    typeof entry === 'string' ? entry : [entry.types, entry.default],
  );
  const beside = filesIn('src')
    .filter((path) => /\.(?:md|mjs|py)$/.test(path))
    .map((path) => `dist/${path}`);
  const committed = committedFiles();
  const expected = new Set([
    ...[...REQUIRED, ...committed.keys(), ...beside],
    ...[...Object.values(bin), ...entries].map((path) => path.replace(/^\.\//, '')),
  ]);
  const isBuilt = (path: string) => path.startsWith('dist/');
  const others = [...files].filter((path) => !isBuilt(path) && !committed.has(path));
  const changed = [...files].filter((path) => committed.has(path) && blobOf(path) !== committed.get(path));
  const empty = REQUIRED.filter((path) => files.has(path) && readFileSync(join(PACKAGE, path), 'utf8').trim() === '');
  return [
    ...[...expected].filter((path) => !files.has(path)).map((path) => `missing: ${path}`),
    ...others.map((path) => `not committed: ${path}`),
    ...changed.map((path) => `not as it was committed: ${path}`),
    ...empty.map((path) => `empty: ${path}`),
    ...[...files].filter((path) => UNWANTED.test(path)).map((path) => `no user needs it: ${path}`),
    ...(packedSize() <= MOST_BYTES ? [] : [`${packedSize()} bytes packed, at most ${MOST_BYTES} are allowed`]),
    ...(files.size <= MOST_FILES ? [] : [`${files.size} files, at most ${MOST_FILES} are allowed`]),
  ];
}

/** What git has of the files that the manifest names: their paths and hashes. */
function committedFiles(): Map<string, string> {
  const lines = output('git', ['ls-tree', '-r', '-z', 'HEAD'])
    .split('\0')
    .filter((line) => line !== '');
  const all = lines.map((line) => /^\d+ \w+ (\w+)\t(.*)$/s.exec(line)!);
  return new Map(all.map(([, hash, path]) => [path!, hash!] as const).filter(([path]) => shipped(path)));
}

/** As git names the content of a file. */
function blobOf(path: string): string {
  const content = readFileSync(join(PACKAGE, path));
  return createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex');
}

/** Shown in pages and examples. */
const SHOWN = ['sk-abcdefghij1234', 'api_key is abcdefg1', 'Password={a;b}', 'REDISCLI_AUTH="$$REDIS_PASSWORD"'];
const NAMED_LIKE_KEYS =
  /(?:^|\/)(?:\.env[^/]*|[^/]*\.env|\.npmrc|\.netrc|\.pypirc|id_[a-z0-9]+|credentials[^/]*)$|\.(?:key|pem|p12|pfx|jks|keystore)$/i;

/** Code names keys and tokens all the time, so in what was built only keys of a known form are looked for. */
export function findSecrets(): string[] {
  return filesIn(PACKAGE).flatMap((path) => {
    const hide = path.startsWith('dist/') ? knownKeys.hide : redactSecrets;
    const text = SHOWN.reduce((words, shown) => words.replaceAll(shown, ''), textOf(path));
    const at = text.split('\n').flatMap((line, index) => (hide(line) !== line ? [index + 1] : []));
    const isNamed = NAMED_LIKE_KEYS.test(path) || redactSecrets(path) !== path;
    return [
      ...(isNamed ? [`${path} is named as files with keys are`] : []),
      ...at.map((line) => `${path}:${line} holds what looks like a key`),
      ...(keyBlocks.hide(text) === text ? [] : [`${path} holds a private key`]),
    ];
  });
}

/** Text of two bytes a character is read too. */
function textOf(path: string): string {
  const text = readFileSync(join(PACKAGE, path), 'utf8');
  return path.endsWith('.png') ? '' : text.replaceAll('\0', '');
}
