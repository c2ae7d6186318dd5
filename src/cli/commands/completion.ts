import { Argument } from 'commander';
import { bashScript, commandLevels, fishScript, zshScript } from '../completion.ts';
import { type CommandEntry, type DefineCommand, examples } from '../define-command.ts';
import { jsonOption } from '../flags/flags.ts';

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript };
type Shell = keyof typeof SCRIPTS;

/** Completes all of these. The table cannot be imported here, since it loads this file. */
export const defineFor =
  (commands: readonly CommandEntry[]): DefineCommand =>
  (command, terminal) => {
    command
      .addArgument(new Argument('<shell>', 'whose completion is printed').choices(Object.keys(SCRIPTS)))
      .addOption(jsonOption())
      .addHelpText('after', EXAMPLES)
      .action(async (shell: Shell) => {
        const script = SCRIPTS[shell](await commandLevels(commands, terminal));
        terminal.answer({ shell, script }, script.trimEnd().split('\n'));
      });
  };

const EXAMPLES = examples([
  ['skillopt completion bash >> ~/.bashrc', 'commands, options, their values and names of runs by the tab key'],
  ['skillopt completion zsh > ~/.zsh/completions/_skillopt', 'the same for zsh'],
  ['skillopt completion fish > ~/.config/fish/completions/skillopt.fish', 'and for fish'],
]);
