import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { otherVersions, toldVersions } from '../../scripts/release/versions.ts';
import { tempFolder } from '../support/temp-folder.ts';

it('manifests, lock, changelog, action and pages tell the version of package.json', () => {
  expect(toldVersions('.').length).toBeGreaterThan(10);
  expect(otherVersions('.')).toEqual([]);
});

it('a place that tells another version is named', () => {
  const paths = [
    ...['package.json', 'package-lock.json', 'action.yml', 'CHANGELOG.md', 'docs/ci.md', 'src/core/run/summary.ts'],
    ...['plugin/plugin.json', 'plugin/.claude-plugin/plugin.json', 'plugin/.codex-plugin/plugin.json'],
    ...['plugin/gemini-extension.json', 'plugin/qwen-extension.json', 'scripts/plugin/content.json'],
    '.claude-plugin/marketplace.json',
  ];
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
  for (const changed of paths.slice(2)) {
    const texts = paths.map((path) => [path, readFileSync(path, 'utf8')] as const);
    const other = texts.map(
      ([path, text]) => [path, path === changed ? text.replace(version, '9.9.9') : text] as const,
    );
    using folder = tempFolder(Object.fromEntries(other));
    expect(otherVersions(folder.path)).toEqual([
      expect.stringMatching(new RegExp(`^${changed}.*: expected ${version}, got 9\\.9\\.9$`)),
    ]);
  }
});
