import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** What the stand-in does when one of its documents says so. */
export const NOTE_RULE = '- Note every change in NOTES.md.';

/**
 * A program that behaves as Claude Code does when it works: it asks its model once, loads every skill in its home, reads
 * CLAUDE.md, does what the request says behind "run:", and notes it where a document wants that.
 */
const PROGRAM = `#!/usr/bin/env node
import { execSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
if (process.argv.includes('--version')) { console.log('9.9.9 (stand-in)'); process.exit(0); }
const prompt = process.argv.at(-1);
const print = (line) => console.log(JSON.stringify(line));
const asked = await fetch(process.env.ANTHROPIC_BASE_URL + '/v1/messages', {
  method: 'POST',
  headers: { 'content-type': 'application/json', 'x-api-key': process.env.ANTHROPIC_API_KEY },
  body: JSON.stringify({ model: 'claude-sonnet-4-5', max_tokens: 100, messages: [{ role: 'user', content: prompt }] }),
});
const usage = { input_tokens: 1, output_tokens: 1 };
if (!asked.ok) {
  print({ type: 'result', subtype: 'success', is_error: true, api_error_status: asked.status, result: 'API Error', usage });
  process.exit(1);
}
await asked.json();
const folder = process.env.HOME + '/.claude/skills';
const skills = existsSync(folder) ? readdirSync(folder) : [];
print({ type: 'system', subtype: 'init', slash_commands: skills });
for (const skill of skills) {
  print({ type: 'assistant', message: { content: [{ type: 'tool_use', id: skill, name: 'Skill', input: { skill } }] } });
  print({ type: 'user', message: { content: [{ type: 'tool_result', tool_use_id: skill, content: 'loaded' }] } });
}
const read = (path) => (existsSync(path) ? readFileSync(path, 'utf8') : '');
const texts = [read('CLAUDE.md'), ...skills.map((skill) => read(folder + '/' + skill + '/SKILL.md'))].join('\\n');
const command = /run: (.*)/.exec(prompt)?.[1];
if (command) {
  print({ type: 'assistant', message: { content: [{ type: 'tool_use', id: 'b', name: 'Bash', input: { command } }] } });
  let output = '';
  try { output = execSync(command, { encoding: 'utf8' }); } catch (error) { output = String(error); }
  print({ type: 'user', message: { content: [{ type: 'tool_result', tool_use_id: 'b', content: output }] } });
}
if (texts.includes(${JSON.stringify(NOTE_RULE.slice(2))})) writeFileSync('NOTES.md', 'changed\\n');
print({ type: 'result', subtype: 'success', is_error: false, result: 'It is done.', usage, total_cost_usd: 0.001 });
`;

/** Lays the program below a folder, and says where. */
export function standInClaude(folder: string): string {
  const path = join(folder, 'bin/claude');
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, PROGRAM);
  writeFileSync(join(folder, 'bin/package.json'), '{ "type": "module" }');
  chmodSync(path, 0o755);
  return path;
}
