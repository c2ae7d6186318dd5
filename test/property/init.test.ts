import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { runCli } from '../../src/cli/index.ts';
import { PRICES } from '../../src/models/index.ts';
import { loadProject } from '../../src/project/index.ts';
import { PROVIDER_MODELS } from '../../src/project/propose/model-options.ts';
import { captureIo } from '../support/capture-io.ts';
import { tempFolder } from '../support/temp-folder.ts';

/** Every file below a folder with its bytes. */
function contentOf(path: string): Record<string, string> {
  const entries = readdirSync(path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = entries.map((entry) => join(entry.parentPath, entry.name));
  return Object.fromEntries(paths.map((file) => [file, readFileSync(file).toString('base64')]));
}

const text = fc.string({ unit: 'grapheme', maxLength: 60 });
const row = fc.record({ question: text, answer: text });
const body = fc.oneof(
  text,
  fc.array(row, { maxLength: 6 }).map((rows) => rows.map((each) => JSON.stringify(each)).join('\n')),
  fc.array(row, { maxLength: 6 }).map((rows) => JSON.stringify(rows)),
  fc.array(row, { maxLength: 6 }).map((rows) => JSON.stringify({ skill_name: 's', evals: rows })),
  text.map((name) => `---\nname: ${JSON.stringify(name)}\ndescription: x\n---\n\nBe kind.\n`),
  fc.constant('export default { rolloutOne() {} };'),
  fc.constant('prompts: ["{{q}}"]\ntests:\n  - vars: { q: hi }\n    assert: [{ type: contains, value: "ho\\n#" }]\n'),
);
const NAMES = [
  'SKILL.md',
  'a/SKILL.md',
  'tasks.jsonl',
  'q a.json',
  'x: y.jsonl',
  'evals/evals.json',
  'env.ts',
  'c.yaml',
  'd.csv',
];

it('init never changes or removes what was there, and what it writes always loads', async () => {
  const files = fc.dictionary(fc.constantFrom(...NAMES), body, { minKeys: 1 });
  const format = fc.constantFrom('yaml', 'json', 'mjs', 'ts');
  await fc.assert(
    fc.asyncProperty(files, format, fc.boolean(), async (given, ending, hasKey) => {
      using folder = tempFolder(given);
      const before = contentOf(folder.path);
      const env = { HOME: folder.path, PATH: '', ...(hasKey ? { OPENAI_API_KEY: 'dummy' } : {}) };
      const io = captureIo({ cwd: folder.path, env });
      const code = await runCli(['init', '--json', '--format', ending], io);
      expect(contentOf(folder.path)).toMatchObject(before);
      if (code !== 0) return;
      const { files: written } = JSON.parse(io.out()) as { files: string[] };
      if (written.length === 0) return;
      const config = join(folder.path, `skillopt.config.${ending}`);
      await expect(loadProject({ flags: {}, config, cwd: folder.path })).resolves.toMatchObject({});
    }),
    { numRuns: 40 },
  );
});

it('init proposes only models whose price is known, where a provider has a price list here', () => {
  const names = Object.entries(PROVIDER_MODELS).flatMap(([provider, pair]) =>
    provider === 'minimax' ? [] : [...pair!],
  );
  expect(names.filter((name) => PRICES[name] === undefined)).toEqual([]);
});
