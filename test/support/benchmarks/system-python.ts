import { execFileSync } from 'node:child_process';
import { isMissing } from '../machine.ts';

/** The Python of the system: sandboxes show no other. */
export const PYTHON = '/usr/bin/python3';

export function succeeds(args: readonly string[]): boolean {
  try {
    execFileSync(PYTHON, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Whether tests with workbooks in Python are skipped, which is said. */
export const lacksPython = isMissing('openpyxl', succeeds(['-c', 'import openpyxl']));
