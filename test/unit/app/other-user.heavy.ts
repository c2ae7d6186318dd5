import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { isMissing } from '../../support/machine.ts';
import { marksProject, skillThat } from '../cli/check/marks-project.ts';
import { startClone } from '../cli/clone-cli.ts';

vi.setConfig({ testTimeout: 400_000 }); // starts processes, which a busy machine does slowly

const NOBODY = 65534;
const isRoot = process.getuid?.() === 0;
/** The superuser may write everywhere, and has to be somebody else for a moment. */
const canBecome = isRoot && !isMissing('setpriv');
const shell = canBecome
  ? `exec setpriv --reuid=${NOBODY} --regid=${NOBODY} --clear-groups "$0" "$@"`
  : 'exec "$0" "$@"';

const QUICK = 'numEpochs: 1\nbatchSize: 2\nfinalPasses: 1\nmaxRollouts: 60\noutRoot: runs/run\nskill: pdf\n';

/** A project that its user may read and not write, and commands of that user in it. */
function foreignProject() {
  const project = marksProject({ 'pdf/SKILL.md': skillThat(4) }, QUICK);
  const home = project.at('home');
  mkdirSync(home);
  if (canBecome) chownSync(home, NOBODY, NOBODY);
  return {
    ...project,
    lock: (mode = 0o555) => chmodSync(project.path, mode),
    asUser: (...args: string[]) =>
      startClone(args, { cwd: project.path, env: { HOME: home, SKILLOPT_HOME: `${home}/state` }, shell }).finished,
    [Symbol.dispose]() {
      chmodSync(project.path, 0o755);
      project[Symbol.dispose]();
    },
  };
}

describe('doctor', () => {
  it.skipIf(isRoot && !canBecome)('finds a folder of runs that cannot be written, and changes nothing', async () => {
    using project = foreignProject();
    project.lock();
    const before = readdirSync(project.path);
    const { code, stdout } = await project.asUser('doctor', '--json');
    const found = {
      name: 'runs',
      isOk: false,
      detail: expect.stringMatching(/^runs\/run cannot be written: EACCES/),
      remedy: expect.stringContaining('choose a run directory that can be written (--run)'),
    };
    expect([code, JSON.parse(stdout).checks]).toEqual([2, expect.arrayContaining([expect.objectContaining(found)])]);
    const train = await project.asUser('train');
    expect([train.code, train.stderr]).toEqual([2, expect.stringContaining('runs/run cannot be written: EACCES')]);
    expect(readdirSync(project.path)).toEqual(before);
  });

  it('says where runs are written, and what stands in the way', async () => {
    using project = marksProject({}, 'outRoot: deep/down/run\n');
    const { code, out } = await project.cli('doctor');
    expect([code, out]).toEqual([0, expect.stringMatching(/✓ runs +deep\/down\/run can be written\n/)]);
    expect(existsSync(project.at('deep'))).toBe(false);
    writeFileSync(project.at('deep'), '');
    const blocked = await project.cli('doctor');
    expect([blocked.code, blocked.out]).toEqual([2, expect.stringContaining('deep is a file, and no folder')]);
  });
});

describe('apply', () => {
  it.skipIf(!canBecome)('says of a document of somebody else whose it is, and does not advise chmod', async () => {
    using project = foreignProject();
    expect((await project.cli('train --quiet')).code).toBe(0);
    project.lock(0o755);
    const { code, stderr } = await project.asUser('apply', 'run', '--yes');
    expect([code, stderr]).toEqual([2, expect.stringContaining('it belongs to another user (uid 0)')]);
    expect(stderr).toMatch(/hint: Run this as that user\. Or write the skill somewhere else: .*apply run --to PATH/);
    expect(stderr).not.toContain('chmod');
  });
});
