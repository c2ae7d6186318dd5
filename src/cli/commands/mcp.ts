import { readFileSync } from 'node:fs';
import { Option } from 'commander';
import { type DefineCommand, examples } from '../run-command.ts';

export const define: DefineCommand = (command, terminal) => {
  command
    .addOption(new Option('--allow <act>', 'let agents start a night without asking you each time').choices(['run']))
    .addHelpText('after', EXAMPLES)
    .action(async ({ allow }: { readonly allow?: 'run' }) => {
      const { serveMcp } = await import('../../mcp/index.ts');
      const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'));
      await serveMcp({
        ...{ input: process.stdin, write: keepStdout(), version, env: terminal.io.env },
        mayRun: allow === 'run',
        called: (text) => terminal.called(text, '/'), // nobody knows where it is typed
      });
    });
};

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
