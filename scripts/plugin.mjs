// Writes plugin/ and the marketplace files from package.json and scripts/plugin. With --check it writes nothing and exits 1 when a
// file differs. Agents keep a copy of a plugin under its version and never read the same version again, so the script refuses
// other content under a known version. --same-version allows it for a version that nobody has installed yet.
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = process.env.SKILLOPT_PLUGIN_ROOT ?? fileURLToPath(new URL('..', import.meta.url));
/** The version that was written last, and a digest of everything that was written with it. */
const RECORD = 'scripts/plugin/content.json';
const read = (path) => readFileSync(join(ROOT, path), 'utf8');
const json = (value) => `${JSON.stringify(value, null, 2)}\n`;

const source = {
  ...JSON.parse(read('package.json')),
  skill: read('scripts/plugin/skill.md'),
  command: read('scripts/plugin/command.md'),
  launcher: read('scripts/plugin/launcher.sh'),
  windowsLauncher: read('scripts/plugin/launcher.cmd'),
};

const SCHEMAS = 'https://agent-plugins.org/schemas/1.0.0';
const LAUNCHER = 'bin/skillopt-mcp';
/** Codex takes no tools from a server that answers later than this. */
const STARTUP_SECONDS = 30;

/** What agents put the plugin's folder in for. */
const folderIn = (variable) => `$\{${variable}}`;

/** Everything that is written, by path. */
function filesOf({ name, version, description, license, skill, command, launcher, windowsLauncher }) {
  const author = { name };
  const facts = { name, version, description, license };
  const server = (folder) => ({ mcpServers: { [name]: { command: `${folder}/${LAUNCHER}`, args: [] } } });
  const extension = { name, version, description, ...server(folderIn('extensionPath')) };
  const { about, body } = partsOf(command);
  const listed = { name, version, description, author, source: './plugin', category: 'productivity' };
  const codexEntry = {
    ...{ name, source: { source: 'local', path: './plugin' } },
    ...{ policy: { installation: 'AVAILABLE', authentication: 'ON_INSTALL' }, category: 'Productivity' },
  };
  return {
    'plugin/plugin.json': json({ $schema: `${SCHEMAS}/plugin.schema.json`, ...facts, author }),
    'plugin/mcp.json': json({
      $schema: `${SCHEMAS}/mcp.schema.json`,
      mcpServers: { [name]: { type: 'stdio', command: `./${LAUNCHER}`, args: [] } },
    }),
    'plugin/.claude-plugin/plugin.json': json({ ...facts, author, ...server(folderIn('CLAUDE_PLUGIN_ROOT')) }),
    'plugin/.codex-plugin/plugin.json': json({
      ...facts,
      ...{ author, skills: './skills/', mcpServers: './.codex-plugin/mcp.json' },
    }),
    'plugin/.codex-plugin/mcp.json': json({
      mcpServers: { [name]: { command: `./${LAUNCHER}`, args: [], cwd: '.', startup_timeout_sec: STARTUP_SECONDS } },
    }),
    'plugin/gemini-extension.json': json(extension),
    'plugin/qwen-extension.json': json(extension),
    'plugin/skills/skillopt-sleep/SKILL.md': skill,
    'plugin/commands/sleep.md': `---\ndescription: ${about}\n---\n\n${body}`,
    'plugin/commands/sleep.toml': `description = ${JSON.stringify(about)}\nprompt = """\n${body.replaceAll('$ARGUMENTS', '{{args}}')}"""\n`,
    [`plugin/${LAUNCHER}`]: launcher,
    [`plugin/${LAUNCHER}.cmd`]: windowsLauncher.replaceAll('\n', '\r\n'),
    '.claude-plugin/marketplace.json': json({ name, owner: author, metadata: { description }, plugins: [listed] }),
    '.agents/plugins/marketplace.json': json({ name, interface: { displayName: name }, plugins: [codexEntry] }),
  };
}

function partsOf(command) {
  const [, about, body] = /^---\ndescription: (.*)\n---\n\n(.*)$/s.exec(command) ?? [];
  if (about === undefined) throw new Error('scripts/plugin/command.md must begin with a description in frontmatter');
  return { about, body };
}

const files = filesOf(source);

/** Of the content alone: the version itself is left out. */
const digest = createHash('sha256')
  .update(JSON.stringify(filesOf({ ...source, version: '' })))
  .digest('hex');

const recorded = existsSync(join(ROOT, RECORD)) ? JSON.parse(read(RECORD)) : {};
const isReused = recorded.version === source.version && recorded.digest !== digest;
const REUSED = `the plugin has other content than version ${recorded.version} had. Agents keep that version: raise the version in package.json first. If nobody has installed ${recorded.version} yet: node scripts/plugin.mjs --same-version`;

const present = (path) => (existsSync(join(ROOT, path)) ? read(path) : undefined);
const strangers = () =>
  existsSync(join(ROOT, 'plugin'))
    ? readdirSync(join(ROOT, 'plugin'), { recursive: true, encoding: 'utf8' })
        .map((path) => `plugin/${path.replaceAll('\\', '/')}`)
        .filter((path) => !(path in files) && statSync(join(ROOT, path)).isFile())
    : [];

function check() {
  const isExecutable =
    process.platform === 'win32' ||
    (statSync(join(ROOT, `plugin/${LAUNCHER}`), { throwIfNoEntry: false })?.mode & 0o111) > 0;
  const problems = [
    ...Object.keys(files).flatMap((path) =>
      present(path) === files[path]
        ? []
        : [`${path} ${present(path) === undefined ? 'is missing' : 'differs from what the script writes'}`],
    ),
    ...strangers().map((path) => `${path} is not written by the script`),
    ...(isExecutable ? [] : [`plugin/${LAUNCHER} is not executable`]),
    ...(isReused ? [REUSED] : []),
    ...(recorded.version === source.version
      ? []
      : [`${RECORD} is of version ${recorded.version}, and package.json of ${source.version}`]),
  ];
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) console.error('To write the files again: node scripts/plugin.mjs');
  else console.log(`All ${Object.keys(files).length} files of the plugin are those of version ${source.version}.`);
  return problems.length === 0 ? 0 : 1;
}

function writeAll() {
  if (isReused && !process.argv.includes('--same-version')) {
    console.error(REUSED);
    return 1;
  }
  for (const [path, text] of Object.entries({ ...files, [RECORD]: json({ version: source.version, digest }) })) {
    mkdirSync(dirname(join(ROOT, path)), { recursive: true });
    writeFileSync(join(ROOT, path), text);
  }
  chmodSync(join(ROOT, `plugin/${LAUNCHER}`), 0o755);
  return 0;
}

process.exitCode = process.argv.includes('--check') ? check() : writeAll();
