import { resolve } from 'node:path';
import type { AgentCliName } from 'skillopt/agents';

/** How a real CLI works on a task without a person: with its tools, in the folder it is started in. */
type WorkRow = {
  /** Where skills of the user are, below the home. */
  readonly skills: string;
  readonly env?: Readonly<Record<string, string>>;
  args(task: { readonly prompt: string; readonly model: string; readonly folder: string }): readonly string[];
};

const noHooks = JSON.stringify({ disableAllHooks: true });

export const workRows: Readonly<Partial<Record<AgentCliName, WorkRow>>> = {
  'claude-cli': {
    skills: '.claude/skills',
    env: { IS_SANDBOX: '1', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', DISABLE_AUTOUPDATER: '1' },
    args: ({ prompt, model }) => [
      ...['-p', '--output-format', 'stream-json', '--verbose', '--dangerously-skip-permissions'],
      ...['--setting-sources', 'user', '--settings', noHooks, '--strict-mcp-config', '--no-session-persistence'],
      ...['--model', model, '--', prompt],
    ],
  },
  'codex-cli': {
    skills: '.codex/skills',
    args: ({ prompt, model, folder }) => [
      ...['exec', '--json', '--ephemeral', '--skip-git-repo-check', '-C', folder],
      ...['--dangerously-bypass-approvals-and-sandbox', '-m', model, prompt],
    ],
  },
  'gemini-cli': {
    skills: '.gemini/skills',
    env: { GEMINI_CLI_TRUST_WORKSPACE: 'true' },
    args: ({ prompt, model }) => ['-p', prompt, '-o', 'stream-json', '--approval-mode', 'yolo', '-m', model],
  },
  'qwen-cli': {
    skills: '.qwen/skills',
    args: ({ prompt, model }) => [
      ...[
        '-o',
        'stream-json',
        '--yolo',
        '--auth-type',
        'openai',
        '--no-chat-recording',
        '--model',
        model,
        '-p',
        prompt,
      ],
    ],
  },
  'pi-cli': {
    skills: '.pi/agent/skills',
    env: { PI_OFFLINE: '1' },
    args: ({ prompt, model }) => ['-p', '--mode', 'json', '--no-session', '--model', model, prompt],
  },
  'copilot-cli': {
    skills: '.copilot/skills',
    args: ({ prompt, model }) => [
      ...['-p', prompt, '--allow-all-tools', '--no-ask-user', '--disable-builtin-mcps', '--stream', 'off'],
      ...['--output-format', 'json', '--no-auto-update', '--log-level', 'none', '--model', model],
    ],
  },
  'opencode-cli': {
    skills: '.config/opencode/skills',
    // It lists the files of a skill with ripgrep, and would download that.
    env: { PATH: [process.env.PATH, ripgrepFolder()].join(':') },
    args: ({ prompt, model }) => ['run', '--format', 'json', '--auto', '--title', 'work', '-m', model, prompt],
  },
};

/** One that another of the CLIs brings. */
function ripgrepFolder(): string {
  const vendor = 'qwen-code-qwen-code@0.15.10/node_modules/@qwen-code/qwen-code/vendor/ripgrep';
  return resolve('.cache/agents', vendor, `${process.arch}-${process.platform}`);
}
