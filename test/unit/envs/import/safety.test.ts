import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadTasks } from 'skillopt/envs';
import { describe, expect, test } from 'vitest';
import { loadEnv, loadProject } from '../../../../src/project/index.ts';
import { tempFolder } from '../../../support/temp-folder.ts';

const config = (...values: readonly string[]) =>
  JSON.stringify({
    prompts: ['{{question}}'],
    tests: values.map((value, index) => ({
      description: `test ${index}`,
      vars: { question: 'q' },
      assert: [
        { type: 'contains', value },
        { type: 'contains', value: 'x' },
      ],
    })),
  });

describe('a promptfoo config', () => {
  test('opens no file outside its folder, by any way', async () => {
    using folder = tempFolder({ 'secret.txt': 'secret', 'in/ok.txt': 'fine' });
    symlinkSync(join(folder.path, 'secret.txt'), join(folder.path, 'in', 'link.txt'));
    mkdirSync(join(folder.path, 'in', 'sub'));
    const files = ['file://../secret.txt', 'file:///etc/hosts', 'file://link.txt', 'file://sub', 'file://ok.txt'];
    writeFileSync(join(folder.path, 'in', 'promptfooconfig.json'), config(...files));
    const { rows, leftOut } = await loadTasks(join(folder.path, 'in', 'promptfooconfig.json'));
    expect(leftOut.map(({ test: name, why }) => [name, why])).toEqual([
      ['test 0', '../secret.txt lies outside the folder'],
      ['test 1', '/etc/hosts lies outside the folder'],
      ['test 2', 'link.txt lies outside the folder'],
      ['test 3', 'sub is no file'],
    ]);
    expect(JSON.stringify(rows)).not.toContain('secret"');
    expect(rows.at(-1)!.value.judge).toMatchObject({ checks: [{ value: 'fine' }, { value: 'x' }] });
  });

  test('whose variables multiply without end is left out', async () => {
    const many = Array.from({ length: 200 }, (_, index) => index);
    const test = { vars: { question: 'q', a: many, b: many }, assert: [{ type: 'contains', value: 'x' }] };
    using folder = tempFolder({ 'p.json': JSON.stringify({ prompts: ['{{question}}'], tests: [test] }) });
    await expect(loadTasks(join(folder.path, 'p.json'))).rejects.toThrow('make more than 10000 tests');
  });
});

test('a project names columns and a way of scoring, and a schema in a file', async () => {
  using folder = tempFolder({
    't.csv': 'Frage,Antwort\nq,a\nr,b\ns,c\n',
    's.json': '{"type": "object"}',
    'skillopt.config.yaml':
      'tasks: t.csv\nsplitRatio: 1:1:1\ncolumns: { question: Frage, answers: Antwort }\nscoring: { kind: json-schema, schema: s.json }\n',
  });
  const env = await loadEnv(await loadProject({ flags: {}, cwd: folder.path }));
  expect(await env.getItems('train')).toMatchObject([{ judge: { kind: 'json-schema', schema: { type: 'object' } } }]);
  await expect(loadProject({ flags: { scoring: 'contain' }, cwd: folder.path })).rejects.toThrow(
    'did you mean contains?',
  );
});
