import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Option } from 'commander';
import { type DefineCommand, examples } from '../run-command.ts';

export const define: DefineCommand = (command, terminal) => {
  command
    .addOption(new Option('--allow <act>', 'let agents start a night without asking you each time').choices(['run']))
    .addHelpText('after', EXAMPLES)
    .action(async ({ allow }: { readonly allow?: 'run' }) => {
      const { serveMcp } = await import('../../mcp/index.ts');
      if (terminal.io.stdin?.isTTY) terminal.io.stderr.write(`${terminal.called(WAITS)}\n`);
      const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'));
      await serveMcp({
        ...{ input: process.stdin, write: keepStdout(), version, env: terminal.io.env },
        mayRun: allow === 'run',
        called: (text) => terminal.called(text, '/'), // nobody knows where it is typed
      });
      await endIfStuck();
    });
};

const WAITS =
  'This waits for messages of an agent, which starts it by itself (skillopt plugin install). End it with Ctrl-D or Ctrl-C.';

const STUCK_MS = 1_000;

/** The client is gone. A call that hangs in a file holds a thread, and an orderly end would wait for it. */
async function endIfStuck(): Promise<void> {
  const isBusy = () => process.getActiveResourcesInfo().some((name) => name.startsWith('FSReq'));
  for (const end = Date.now() + STUCK_MS; isBusy(); await sleep(20))
    if (Date.now() > end) process.kill(process.pid, 'SIGKILL');
}

const EXAMPLES = examples([
  ['skillopt mcp', 'serve tools to an agent over stdin and stdout; agents start it themselves'],
  ['skillopt plugin install claude', 'let Claude Code start it'],
]);

/** Whatever else writes to stdout would break the protocol: it goes to stderr. */
function keepStdout(): (text: string) => unknown {
  const write = process.stdout.write.bind(process.stdout);
  process.stdout.write = process.stderr.write.bind(process.stderr) as typeof process.stdout.write;
  return (text) => write(text);
}
