import { SkillError } from '../core/errors.ts';
import { isOutOfFiles } from './exit-code.ts';
import { Interrupted } from './interrupt.ts';
import { StoppedRun } from './runs/stopped-run.ts';
import type { Terminal } from './terminal/terminal.ts';

type Explained = { readonly code: string; readonly message: string; readonly hint?: string };

/** Says what went wrong and what to do: on stderr, and with `--json` as the one object on stdout too. */
export function printError(error: unknown, terminal: Terminal): void {
  const { code, message, hint } = explain(error);
  const { red, dim } = terminal.errorColors;
  terminal.say(error instanceof Interrupted ? `stopped: ${message}` : `${red('error:')} ${message}`);
  if (hint !== undefined) terminal.say(`${dim('hint:')} ${hint}`);
  if (code === 'BUG' && terminal.io.env.SKILLOPT_DEBUG === '1') terminal.say(String((error as Error)?.stack ?? error));
  const run = error instanceof StoppedRun ? { run: error.run } : {};
  if (terminal.isJson)
    terminal.answer({ error: { code, message, ...(hint === undefined ? {} : { hint }) }, ...run }, []);
}

function explain(error: unknown): Explained {
  if (error instanceof SkillError) return { code: error.code, message: error.message, ...hintOf(error) };
  if (error instanceof Interrupted) return { code: 'INTERRUPTED', message: error.message, ...hintOf(error) };
  const message = error instanceof Error ? error.message : String(error);
  if (isOutOfFiles(error))
    return { code: 'TOO_MANY_FILES', message: `too many files are open: ${message}`, hint: MORE_FILES };
  const hint = 'Please report it. SKILLOPT_DEBUG=1 shows where it happened.';
  return { code: 'BUG', message: `this is a bug in skillopt: ${message}`, hint };
}

const MORE_FILES = 'Allow this process more of them and run the same command again: ulimit -n 1024';

const hintOf = ({ hint }: { hint?: string | undefined }) => (hint === undefined ? {} : { hint });
