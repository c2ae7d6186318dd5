import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startFakeLLM } from 'skillopt/testing';
import { describe, expect, it } from 'vitest';
import { runCli } from '../../../src/cli/index.ts';
import { captureIo } from '../../support/capture-io.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const SKILL = `---
name: pdf
description: See [none](frontmatter.md).
---
# PDF

Read [the forms](references/forms.md#top), then \`scripts/fill.py\`, and [forms](./references/forms.md) again.
See [a picture](logo.png), [gone](gone.md), [other](../secret.md), [link](linked.md), [docs](references), [big](big.md).
\`not.there\` is a word, and so is [the web](https://example.com/x.md).
`;

/** A skill folder with a reference of every kind, and a target that answers all with «yes». */
async function openProject(config: object = {}) {
  const far = await startFakeLLM(() => '<answer>yes</answer>');
  const model = { provider: 'compatible', model: 'm', baseURL: far.baseURL, apiKeyEnv: 'FAR_KEY' };
  const rows = Array.from({ length: 6 }, (_, k) => ({ id: `t${k}`, question: `Is ${k} even?`, answers: ['yes'] }));
  const project = { name: 'run', tasks: 'tasks.jsonl', skill: 'pdf', target: model, optimizer: model, ...config };
  const folder = tempFolder({
    'skillopt.config.json': JSON.stringify(project),
    'tasks.jsonl': rows.map((row) => JSON.stringify(row)).join('\n'),
    'secret.md': 'SECRET',
    'pdf/SKILL.md': SKILL,
    'pdf/references/forms.md': 'FORMS TEXT\n',
    'pdf/scripts/fill.py': 'print("FILL")\n',
    'pdf/big.md': 'BIG '.repeat(12_000),
  });
  writeFileSync(join(folder.path, 'pdf/logo.png'), Buffer.from([0x89, 0x50, 0, 0xff]));
  symlinkSync('../secret.md', join(folder.path, 'pdf/linked.md'));
  return {
    ...folder,
    systems: () => far.requests.map(({ messages }) => messages[0]?.content ?? ''),
    async run(...argv: string[]) {
      const io = captureIo({ cwd: folder.path, env: { FAR_KEY: 'dummy-key', HOME: folder.path } });
      const code = await runCli(argv, io);
      return { code, out: io.out(), err: io.err() };
    },
    async [Symbol.asyncDispose]() {
      await far[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
}

describe('files of a skill folder', () => {
  it('stand behind the skill in the prompt, in order of mention; what is left out is said once', async () => {
    await using project = await openProject();
    const { code, err } = await project.run('eval', '--skill', 'pdf', '--quiet');
    expect([code, err.split('\n').filter((line) => line !== '')]).toEqual([
      0,
      [
        'warning: pdf/SKILL.md refers to files that the target does not see: logo.png (is no text), gone.md (is not there), ' +
          '../secret.md (lies outside of its folder), linked.md (lies outside of its folder), references (is a folder), ' +
          'big.md (is too big: 48000 bytes, and 47975 of 48000 are left)',
      ],
    ]);
    const [system = ''] = project.systems();
    expect(system.startsWith(SKILL.trimEnd())).toBe(true);
    expect(system).toContain(
      'Files of this skill:\n\n<file path="references/forms.md">\nFORMS TEXT\n\n</file>\n\n<file path="scripts/fill.py">\nprint("FILL")\n\n</file>',
    );
    expect(system).not.toMatch(/SECRET|BIG BIG/);
  });

  it('are no part of the trained document, nor of the journal; changed ones make another run', async () => {
    await using project = await openProject({ numEpochs: 1 });
    expect((await project.run('train', '--quiet')).err).toContain('refers to files that the target does not see');
    const journal = readFileSync(join(project.path, 'runs/run/events.jsonl'), 'utf8');
    expect(journal).not.toContain('FORMS TEXT');
    expect(readFileSync(join(project.path, 'runs/run/skills/skill_v0000.md'), 'utf8')).toBe(SKILL);
    writeFileSync(join(project.path, 'pdf/references/forms.md'), 'OTHER\n');
    const { code, err } = await project.run('train', '--quiet');
    expect([code, err]).toEqual([
      2,
      expect.stringContaining('holds a run of something else: the files that the skill refers to have changed\n'),
    ]);
  });

  it('of the skill that a version came from are read with the version, and its replies are used again', async () => {
    await using project = await openProject();
    mkdirSync(join(project.path, 'runs/x'), { recursive: true });
    writeFileSync(join(project.path, 'runs/x/best_skill.md'), SKILL);
    await project.run('eval', '--skill', 'runs/x/best_skill.md', '--quiet');
    expect(project.systems()[0]).toContain('FORMS TEXT');
    const asked = project.systems().length;
    await project.run('eval', '--skill', 'pdf/SKILL.md', '--quiet');
    expect(project.systems().length).toBe(asked);
  });

  it('are left out with skillFiles: none, and that is said', async () => {
    await using project = await openProject({ skillFiles: 'none' });
    const { err } = await project.run('eval', '--skill', 'pdf', '--quiet');
    expect(err).toContain('references/forms.md (skillFiles: none), scripts/fill.py (skillFiles: none)');
    expect(project.systems()[0]).not.toContain('FORMS TEXT');
    expect((await project.run('doctor')).out).toContain('scripts/fill.py (skillFiles: none)');
  });

  it('a folder without a SKILL.md is named', async () => {
    await using project = await openProject();
    const { code, err } = await project.run('eval', '--skill', 'pdf/references', '--quiet');
    expect([code, err]).toEqual([2, expect.stringContaining('pdf/references is a folder without a SKILL.md')]);
  });
});
