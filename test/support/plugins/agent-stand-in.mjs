// Stands in for an agent's program: `agent-stand-in.mjs NAME ARGUMENTS`. It takes a plugin, lists it and gives it back as the real
// one was seen to do, with what that leaves over in its settings. Appends a line about each call to ~/calls.jsonl.
import { appendFileSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const [name, ...words] = process.argv.slice(2);
const { HOME, PATH } = process.env;
appendFileSync(join(HOME, 'calls.jsonl'), `${JSON.stringify({ words, cwd: process.cwd(), path: PATH })}\n`);

const file = (path) => join(HOME, `.${name}`, path);
const read = (path) =>
  existsSync(path) ? JSON.parse(readFileSync(path, 'utf8').replaceAll(/^\s*\/\/.*$|,(?=\s*[}\]])/gm, '')) : {};
const write = (path, value) => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, JSON.stringify(value, null, 2));
};
const versionIn = (folder) => JSON.parse(readFileSync(join(folder, 'plugin/plugin.json'), 'utf8')).version;

/** Claude Code and Copilot: two keys of settings.json, which is written anew. Copilot keeps the second one. */
const byMarketplace = {
  'plugin marketplace add': ([root]) => change({ extraKnownMarketplaces: { skillopt: { source: { path: root } } } }),
  'plugin install': ([id]) => change({ enabledPlugins: { [id]: true } }),
  'plugin uninstall': ([id]) => change({ enabledPlugins: name === 'copilot' ? { [id]: false } : {} }),
  'plugin marketplace remove': () => change({ extraKnownMarketplaces: {} }),
  'plugin marketplace list': () => Object.keys(read(file('settings.json')).extraKnownMarketplaces ?? {}).join('\n'),
  'plugin list': () => {
    const { enabledPlugins = {}, extraKnownMarketplaces = {} } = read(file('settings.json'));
    const version = enabledPlugins['skillopt@skillopt'] && versionIn(extraKnownMarketplaces.skillopt.source.path);
    if (name === 'copilot') return version ? `  • skillopt@skillopt (v${version}) (enabled)` : 'No plugins installed.';
    return JSON.stringify(version ? [{ id: 'skillopt@skillopt', version }] : []);
  },
};

const change = (values) => write(file('settings.json'), { ...read(file('settings.json')), ...values });

/** Codex: two sections of config.toml, whose other bytes stay. */
const toml = () => (existsSync(file('config.toml')) ? readFileSync(file('config.toml'), 'utf8') : '');
const byToml = {
  'plugin marketplace add': ([root]) =>
    appendFileSync(file('config.toml'), `\n[marketplaces.skillopt]\nsource = "${root}"\n`),
  'plugin add': ([id]) => appendFileSync(file('config.toml'), `\n[plugins."${id}"]\nenabled = true\n`),
  'plugin remove': () => writeFileSync(file('config.toml'), toml().replace(/\n\[plugins[^[]*/, '')),
  'plugin marketplace remove': () => writeFileSync(file('config.toml'), toml().replace(/\n\[marketplaces[^[]*/, '')),
  'plugin marketplace list': () => /\[marketplaces\.(\w+)/.exec(toml())?.[1] ?? 'No plugin marketplaces in scope.',
  'plugin list': () => {
    const root = /\[plugins/.test(toml()) && /source = "(.*)"/.exec(toml())[1];
    const installed = root ? [{ pluginId: 'skillopt@skillopt', version: versionIn(root), tags: [] }] : [];
    return JSON.stringify({ installed, available: [] }, null, 2);
  },
};

/** Gemini CLI and Qwen Code: a copy, and a file that says where it is on. */
const below = (path) => file(join('extensions', path));
const byExtension = {
  'extensions install': ([folder]) => {
    cpSync(folder, below('skillopt'), { recursive: true });
    write(below('extension-enablement.json'), { skillopt: { overrides: [`${HOME}/*`] } });
  },
  'extensions uninstall': () => {
    rmSync(below('skillopt'), { recursive: true });
    write(below('extension-enablement.json'), {});
  },
  'extensions list': () =>
    existsSync(below('skillopt'))
      ? `✓ skillopt (${read(below('skillopt/plugin.json')).version})`
      : 'No extensions installed.',
};

const opencode = {
  'debug config': () => JSON.stringify(read(join(HOME, '.config/opencode/opencode.jsonc'))),
};

const verbs = {
  claude: byMarketplace,
  copilot: byMarketplace,
  codex: byToml,
  gemini: byExtension,
  qwen: byExtension,
  opencode,
}[name];
const say = (text) => process.stdout.write(`${text}\n`);
if (words[0] === '--version') say('9.9.9');
else {
  const line = words.join(' ');
  const verb = Object.keys(verbs)
    .sort((a, b) => b.length - a.length)
    .find((one) => line.startsWith(one));
  if (verb === undefined || existsSync(join(HOME, `fail ${verb}`))) {
    process.stderr.write(`error: ${line} cannot be done\n`);
    process.exit(1);
  }
  const said = verbs[verb](words.slice(verb.split(' ').length));
  if (typeof said === 'string') say(said);
}
