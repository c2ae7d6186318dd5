import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

/** A place that tells a version, and the one that it tells. */
export type ToldVersion = { readonly where: string; readonly version: string | undefined };

const MANIFESTS = [
  'plugin/plugin.json',
  'plugin/.claude-plugin/plugin.json',
  'plugin/.codex-plugin/plugin.json',
  'plugin/gemini-extension.json',
  'plugin/qwen-extension.json',
  'scripts/plugin/content.json',
];

/** Every place that tells the version of the package, package.json first. */
export function toldVersions(root: string): ToldVersion[] {
  const read = (path: string) => readFileSync(join(root, path), 'utf8');
  const json = (path: string) => JSON.parse(read(path));
  const lock = json('package-lock.json');
  return [
    { where: 'package.json', version: json('package.json').version },
    { where: 'package-lock.json', version: lock.version },
    { where: 'package-lock.json, packages', version: lock.packages[''].version },
    ...MANIFESTS.map((where) => ({ where, version: json(where).version })),
    { where: '.claude-plugin/marketplace.json', version: json('.claude-plugin/marketplace.json').plugins[0].version },
    { where: 'action.yml, inputs.version.default', version: parse(read('action.yml')).inputs.version.default },
    { where: 'CHANGELOG.md, the first heading', version: /^## (\S+)/m.exec(read('CHANGELOG.md'))?.[1] },
    { where: 'src/core/run/summary.ts', version: /'skillopt-(\d[^']*)'/.exec(read('src/core/run/summary.ts'))?.[1] },
    ...['docs/ci.md', 'action.yml'].flatMap((where) => pinned(where, read(where))),
  ];
}

/** Each version of ours that a page or the action names: `skillopt/skillopt@v1.2.3`, `skillopt@1.2.3`. */
const pinned = (where: string, text: string): ToldVersion[] =>
  [...text.matchAll(/skillopt@v?(\d[^\s"'`]*)/g)].map(([name, version]) => ({ where: `${where}, ${name}`, version }));

/** One line for each place that tells another version than package.json. */
export function otherVersions(root: string): string[] {
  const [own, ...others] = toldVersions(root);
  return others
    .filter(({ version }) => version !== own!.version)
    .map(({ where, version }) => `${where}: expected ${own!.version}, got ${version ?? 'none'}`);
}
