import { SkillError } from '../core/contracts/index.ts';
import { inFlags } from './flags/in-flags.ts';
import { Interrupted } from './interrupt.ts';
import { StoppedRun } from './report/stopped-run.ts';
import { systemErrorOf } from './system-error.ts';
import type { Terminal } from './terminal/terminal.ts';

type Explained = { readonly code: string; readonly message: string; readonly hint?: string };

/** Says what went wrong and what to do: on stderr, and with `--json` as the one object on stdout too. */
export function printError(error: unknown, terminal: Terminal): void {
  const { code, message, hint } = inOwnWords(explain(error), terminal);
  const { red, dim } = terminal.errorColors;
  terminal.say(error instanceof Interrupted ? `stopped: ${message}` : `${red('error:')} ${message}`);
  if (hint !== undefined) terminal.say(`${dim('hint:')} ${hint}`);
  if (code === 'BUG' && terminal.io.env.SKILLOPT_DEBUG === '1') terminal.say(String((error as Error)?.stack ?? error));
  const run = error instanceof StoppedRun ? { run: error.run } : {};
  if (terminal.isJson)
    terminal.answer({ error: { code, message, ...(hint === undefined ? {} : { hint }) }, ...run }, []);
}

const inOwnWords = ({ code, message, hint }: Explained, { called }: Terminal): Explained => ({
  code,
  message: called(message),
  ...(hint === undefined ? {} : { hint: called(hint) }),
});

function explain(error: unknown): Explained {
  if (error instanceof SkillError) return { code: error.code, ...inFlags(error) };
  if (error instanceof Interrupted) return { code: 'INTERRUPTED', message: error.message, ...hintOf(error) };
  const refused = systemErrorOf(error);
  if (refused !== undefined) return { code: 'SYSTEM', ...refused };
  const message = error instanceof Error ? error.message : String(error);
  const hint = 'Please report it. SKILLOPT_DEBUG=1 shows where it happened.';
  return { code: 'BUG', message: `this is a bug in skillopt: ${message}`, hint };
}

const hintOf = ({ hint }: { hint?: string | undefined }) => (hint === undefined ? {} : { hint });
