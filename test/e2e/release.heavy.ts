import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { tempFolder } from '../support/temp-folder.ts';

/** A repository of its own with the files of this one, whose tests pass at once. */
function createClone() {
  const folder = tempFolder();
  const at = (path: string) => join(folder.path, path);
  const git = (...words: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@localhost', ...words], { cwd: folder.path });
  const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { encoding: 'utf8' });
  for (const path of files.trim().split('\n')) cpSync(path, at(path));
  // Hard links: what installs in the clone would empty the folder behind a symbolic one.
  execFileSync('cp', ['-al', resolve('node_modules'), at('node_modules')]);
  git('init', '--quiet');
  writeFileSync(at('.git/info/exclude'), 'node_modules\n/docs/private\n');
  const made = {
    write(path: string, text: string | Buffer) {
      mkdirSync(join(at(path), '..'), { recursive: true });
      writeFileSync(at(path), text);
    },
    edit(path: string, change: (text: string) => string) {
      const text = readFileSync(at(path), 'utf8');
      expect(change(text), `nothing changes in ${path}`).not.toBe(text);
      writeFileSync(at(path), change(text));
    },
    remove: (path: string) => rmSync(at(path), { recursive: true }),
    commit() {
      git('add', '--all');
      git('commit', '--quiet', '--message=all');
    },
    hideChange(path: string, change: (text: string) => string) {
      git('update-index', '--assume-unchanged', path);
      made.edit(path, change);
    },
    undo() {
      git('update-index', '--really-refresh');
      git('reset', '--quiet', '--hard', 'clean');
      git('clean', '--quiet', '-d', '--force');
    },
    release(...words: readonly string[]) {
      const tsx = at('node_modules/tsx/dist/cli.mjs');
      const { status, stdout, stderr } = spawnSync(process.execPath, [tsx, 'scripts/release/release.ts', ...words], {
        cwd: folder.path,
        encoding: 'utf8',
        env: { ...process.env, NO_COLOR: '1' }, // elsewhere CI has colours
      });
      const problems = stdout.split('\n').filter((line) => line.startsWith('    '));
      return { code: status, problems: problems.map((line) => line.trim()), stdout: stdout + stderr };
    },
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  };
  const setup = '"pretest:all": "node scripts/setup.mjs",';
  made.edit('package.json', (text) => text.replace(setup, '').replace('node scripts/test.mjs --all', 'node --version'));
  made.commit();
  git('tag', 'clean');
  return made;
}

type Clone = ReturnType<typeof createClone>;

let clone: Clone;

beforeAll(() => {
  clone = createClone();
});

afterEach(() => clone.undo());

afterAll(() => clone[Symbol.dispose]());

describe('npm run release', () => {
  it('finds nothing in this tree, and refuses it if its tests fail', () => {
    clone.edit('package.json', (text) => text.replace('"node --version"', '"node --no-such-flag"'));
    clone.commit();
    const { code, problems, stdout } = clone.release();
    expect({ code, problems }, stdout).toEqual({ code: 1, problems: ['npm run test:all failed'] });
    const marks = stdout.split('\n').filter((line) => /^[✓✗] /.test(line));
    expect(marks.map((line) => line.replace(/:.*/, ''))).toEqual([
      ...['✓ tree', '✓ versions', '✓ manifest', '✓ changelog', '✓ lock', '✓ written files', '✓ build', '✓ contents'],
      ...['✓ secrets', '✓ publint', '✓ imports', '✓ types', '✓ start', '✗ tests'],
    ]);
    expect(stdout).toMatch(/^Not to be released: 1 of these/m);
  });

  describe('with every fault that the sources can have', () => {
    let answer: ReturnType<Clone['release']>;

    const faults: readonly [fault: string, plant: (planted: Clone) => void, problem: RegExp][] = [
      [
        'a manifest of another version',
        ({ edit }) => edit('plugin/plugin.json', raise),
        /^plugin\/plugin\.json: expected \S+, got 9\.9\.9$/,
      ],
      [
        'an action of another version',
        ({ edit }) => edit('action.yml', raise),
        /^action\.yml, .*: expected \S+, got 9\.9\.9$/,
      ],
      [
        'a changelog without a date',
        ({ edit }) => edit('CHANGELOG.md', undate),
        /^CHANGELOG\.md: expected the heading/,
      ],
      [
        'a lock that does not fit',
        ({ edit }) => edit('package.json', pin('zod', '4.0.0')),
        /^npm ci refuses package-lock\.json: .*zod/,
      ],
      [
        'a lock that names a host',
        ({ edit }) => edit('package-lock.json', nameHost),
        /^the lock names a host: .*localhost/,
      ],
      [
        'a package that runs a script',
        ({ edit }) => edit('package-lock.json', addScript),
        /zod runs a script when it is installed$/,
      ],
      [
        'an override that users do not get',
        ({ edit }) => edit('package.json', override),
        /^package\.json: the override of picocolors does not reach users/,
      ],
      [
        'a range of versions',
        ({ edit }) => edit('package.json', pin('yaml', `^${dependencies.yaml}`)),
        /^package\.json: yaml has no fixed version but \^/,
      ],
      [
        'an old list of licences',
        ({ edit }) => edit('THIRD_PARTY.md', (text) => `${text}\n`),
        /^THIRD_PARTY\.md is out of date/,
      ],
      [
        'another version in a page',
        ({ edit }) => edit('docs/ci.md', (text) => `${text}\nuses: skillopt/skillopt@v9.9.9\n`),
        /^docs\/ci\.md, skillopt@v9\.9\.9: expected \S+, got 9\.9\.9$/,
      ],
      [
        'a lock without the hash of a package',
        ({ edit }) => edit('package-lock.json', (text) => text.replace(/"integrity": "[^"]*",\n\s*/, '')),
        /^node_modules\/.* has no integrity in the lock$/,
      ],
      [
        'a script that installs run',
        ({ edit }) =>
          edit(
            'package.json',
            inManifest((fields) => ({ ...fields, scripts: { ...fields.scripts, postinstall: 'true' } })),
          ),
        /^package\.json: scripts\.postinstall runs where the package is installed$/,
      ],
      [
        'a package that npm does not publish',
        ({ edit }) =>
          edit(
            'package.json',
            inManifest((fields) => ({ ...fields, private: true })),
          ),
        /^package\.json: private: expected none$/,
      ],
      [
        'another Node than it promises',
        ({ edit }) =>
          edit(
            'package.json',
            inManifest((fields) => ({ ...fields, engines: { node: '>=24' } })),
          ),
        /^package\.json: engines: expected .*20\.19.*, got .*24/,
      ],
      [
        'a door that is closed',
        ({ edit }) =>
          edit(
            'package.json',
            inManifest(({ exports: { './workers': _, ...exports }, ...fields }) => ({ ...fields, exports })),
          ),
        /^package\.json: exports: expected \.\/workers$/,
      ],
      [
        'a package that would come to every user',
        ({ edit }) =>
          edit(
            'package.json',
            inManifest(({ peerDependenciesMeta: _, ...fields }) => fields),
          ),
        /^package\.json: peerDependenciesMeta: bullmq is not optional/,
      ],
      ['what is not committed', ({ write }) => write('docs/new.md', 'New.'), /^not committed: docs\/new\.md$/],
    ];

    beforeAll(() => {
      for (const [, plant] of faults.slice(0, -1)) plant(clone);
      clone.commit();
      faults.at(-1)![1](clone);
      answer = clone.release('--without-tests');
      clone.undo();
    });

    it.each(faults)('refuses %s', (_, __, problem) => {
      expect(answer.problems, answer.stdout).toContainEqual(expect.stringMatching(problem));
    });

    it('builds nothing', () => {
      expect(answer.code).toBe(1);
      expect(answer.stdout).not.toContain('build:');
    });
  });

  describe('with every fault that a package can have', () => {
    let answer: ReturnType<Clone['release']>;
    const key = `ghp_${randomBytes(18).toString('hex')}`;

    beforeAll(() => {
      clone.remove('examples/quickstart.ts');
      clone.edit('package.json', (text) => text.replace('"!docs/quality",', ''));
      clone.write('docs/key.md', `one\nGITHUB_TOKEN=${key}\n`);
      clone.write('examples/noise.bin', randomBytes(1_500_000));
      clone.edit('package.json', (text) => text.replace('./dist/public/sim.d.ts', './dist/public/simulated.d.ts'));
      clone.edit('src/sim/index.ts', (text) => `${text}export type { ComponentChild } from 'preact';\n`);
      clone.edit('src/sim/index.ts', (text) => `${text}export const checks = () => import('fast-check');\n`);
      clone.edit('src/public/stats.ts', (text) => `${text}\nexport const never = JSON.parse('{');\n`);
      clone.edit('LICENSE', () => '\n');
      clone.write('docs/wide.md', Buffer.from(`DB_PASSWORD=${key.slice(4)}`, 'utf16le'));
      clone.write('examples/deploy.pem', 'nothing\n');
      clone.commit();
      clone.write('docs/private/notes.md', 'Ignored.\n');
      clone.hideChange('SECURITY.md', (text) => `${text}More.\n`);
      answer = clone.release('--without-tests');
      clone.remove('docs/private');
      clone.undo();
    });

    it.each([
      ['a file that git ignores', /^not committed: docs\/private\/notes\.md$/],
      ['a change that git does not show', /^not as it was committed: SECURITY\.md$/],
      ['an empty licence', /^empty: LICENSE$/],
      ['a package that only developers have', /^dist\/.*\.js imports fast-check, which users do not get$/],
      ['a door that throws', /^import\('skillopt\/stats'\) fails: SyntaxError/],
      ['a password in wide characters', /^docs\/wide\.md:1 holds what looks like a key$/],
      ['a file that is named like a key', /^examples\/deploy\.pem is named as files with keys are$/],
      ['a file that is not there', /^missing: examples\/quickstart\.ts$/],
      ['a type that is not there', /^missing: dist\/public\/simulated\.d\.ts$/],
      ['a type that only a user would miss', /^nodenext: .*sim\/index\.d\.ts.*'preact'/],
      ['a file that nobody needs', /^no user needs it: docs\/quality\/family\.md$/],
      ['a key', /^docs\/key\.md:2 holds what looks like a key$/],
      ['too many bytes', /^\d+ bytes packed, at most 2000000 are allowed$/],
    ])('refuses %s', (_, problem) => {
      expect(answer.problems, answer.stdout).toContainEqual(expect.stringMatching(problem));
    });

    it('does not show the key', () => {
      expect(answer.code).toBe(1);
      expect(answer.stdout).not.toContain(key);
    });
  });

  it('refuses flags that it does not know, and to publish what was not tested', () => {
    expect(clone.release('--dry')).toMatchObject({ code: 2 });
    expect(clone.release('--without-tests', '--publish')).toMatchObject({ code: 2 });
  });

  it('refuses what does not compile', () => {
    clone.write('src/sim/broken.ts', "export const broken: number = 'text';\n");
    clone.commit();
    expect(clone.release('--without-tests').problems).toContainEqual(
      expect.stringMatching(/^src\/sim\/broken\.ts.*TS2322/),
    );
  });
});

const { version, dependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
const raise = (text: string) => text.replace(version, '9.9.9');
const override = (text: string) =>
  text.replace('"overrides": {', `"overrides": {\n    "picocolors": "${dependencies.picocolors}",`);
const undate = (text: string) => text.replace(/^(## \S+) \(.*\)$/m, '$1 (not released yet)');
const pin = (name: string, range: string) => (text: string) =>
  text.replace(`"${name}": "${dependencies[name]}"`, `"${name}": "${range}"`);
const locked = '"node_modules/zod": {';

type Fields = Record<string, unknown> & {
  scripts: object;
  exports: Record<string, unknown>;
  peerDependenciesMeta: object;
};
const inManifest = (change: (fields: Fields) => object) => (text: string) =>
  `${JSON.stringify(change(JSON.parse(text)), null, 2)}\n`;
const nameHost = (text: string) => text.replace(locked, `${locked}\n      "resolved": "http://localhost/zod.tgz",`);
const addScript = (text: string) => text.replace(locked, `${locked}\n      "hasInstallScript": true,`);
