/**
 * A small agent that speaks as Claude Code does: it lists the skills of its home to its model, and loads them and runs commands
 * when the model says so. `helper` is a model that it asks for a title first. With a `rule` it has a mind of its own: it asks its
 * model once, loads every skill, does what the prompt says behind "run:", and notes that in NOTES.md where a skill or CLAUDE.md
 * has the rule. The shell answers --version, and `node:http` asks: that is faster than starting Node, and than loading `fetch`.
 */
export const miniClaude = ({ helper = '', rule = '' } = {}) => `#!/bin/sh
':' //; [ "$1" = --version ] && echo '2.1.197 (Claude Code)' && exit; exec '${process.execPath}' "$0" "$@"
const { execFileSync } = require('node:child_process');
const { existsSync, readdirSync, readFileSync, writeFileSync } = require('node:fs');
const { request } = require('node:http');
const args = process.argv.slice(2);
const { HOME, ANTHROPIC_BASE_URL: url } = process.env;
const print = (value) => console.log(JSON.stringify(value));
const folder = HOME + '/.claude/skills';
const textOf = (name) => readFileSync(folder + '/' + name + '/SKILL.md', 'utf8');
const valueOf = (flag, otherwise) => (args.includes(flag) ? args[args.indexOf(flag) + 1] : otherwise);

const skills = existsSync(folder) ? readdirSync(folder) : [];
const system = skills.map((name) => '- ' + name + ': ' + /^description: (.*)$/m.exec(textOf(name))?.[1]).join('\\n');
const tools = [
  { name: 'Skill', input_schema: { properties: { skill: { type: 'string' } } } },
  { name: 'Bash', input_schema: { properties: { command: { type: 'string' } } } },
];
const usage = { input_tokens: 0, output_tokens: 0 };

async function ask(body) {
  const headers = { 'content-type': 'application/json', 'x-api-key': process.env.ANTHROPIC_API_KEY };
  const { status, answer } = await new Promise((resolve, reject) => {
    const asked = request(url + '/v1/messages', { method: 'POST', headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk) => (text += chunk)).on('error', reject);
      response.on('end', () => resolve({ status: response.statusCode, answer: JSON.parse(text) }));
    });
    asked.on('error', reject).end(JSON.stringify(body));
  });
  if (status !== 200) return { refused: answer.error.message, status };
  usage.input_tokens += answer.usage.input_tokens;
  usage.output_tokens += answer.usage.output_tokens;
  return answer;
}

function use({ name, input }) {
  if (name === 'Skill') return textOf(input.skill);
  try {
    return execFileSync('/bin/sh', ['-c', input.command], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  } catch (error) {
    return String(error.stderr);
  }
}

const refuse = ({ status, refused }) =>
  print({ type: 'result', subtype: 'success', is_error: true, api_error_status: status, result: refused, usage });
const finish = (result) => print({ type: 'result', subtype: 'success', is_error: false, result, usage });

function perform(content) {
  print({ type: 'assistant', message: { content } });
  const calls = content.filter(({ type }) => type === 'tool_use');
  const results = calls.map((call) => ({ type: 'tool_result', tool_use_id: call.id, content: use(call) }));
  if (calls.length > 0) print({ type: 'user', message: { content: results } });
  return results;
}

async function workByItself(rule) {
  const prompt = args.at(-1);
  const answer = await ask({ model: valueOf('--model'), max_tokens: 99, system, messages: [{ role: 'user', content: prompt }] });
  if (answer.refused) return refuse(answer);
  const call = (id, name, input) => ({ type: 'tool_use', id, name, input });
  const loaded = skills.flatMap((skill) => perform([call(skill, 'Skill', { skill })]));
  const command = /run: (.*)/.exec(prompt)?.[1];
  if (command) perform([call('command', 'Bash', { command })]);
  const told = existsSync('CLAUDE.md') ? readFileSync('CLAUDE.md', 'utf8') : '';
  if ([told, ...loaded.map(({ content }) => content)].join('\\n').includes(rule)) writeFileSync('NOTES.md', 'changed\\n');
  finish('It is done.');
}

async function work() {
  const rule = ${JSON.stringify(rule)};
  if (rule) return workByItself(rule);
  const model = valueOf('--model', 'default-model');
  const helper = ${JSON.stringify(helper)};
  if (helper) {
    const { refused } = await ask({ model: helper, max_tokens: 9, messages: [{ role: 'user', content: 'A title, please.' }] });
    if (refused) process.stderr.write('the helper was refused: ' + refused + '\\n');
  }
  const messages = [{ role: 'user', content: args.at(-1) }];
  for (;;) {
    const answer = await ask({ model, max_tokens: 99, system, messages, tools });
    if (answer.refused) return refuse(answer);
    messages.push({ role: 'assistant', content: answer.content });
    const results = perform(answer.content);
    if (results.length === 0) return finish(answer.content.find(({ type }) => type === 'text')?.text ?? '');
    messages.push({ role: 'user', content: results });
  }
}

work();
`;
