import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SkillError } from '../../core/errors.ts';
import { refuseIfAlive } from './lock-owner.ts';
import { LOCK_FILE } from './run-lock.ts';

/** Whether somebody writes to the run now. Only looks: to take the lock to find out would be in the way of others. */
export async function isRunLocked(directory: string): Promise<boolean> {
  const path = join(directory, LOCK_FILE);
  try {
    await refuseIfAlive(path, await readFile(path, 'utf8'));
    return false;
  } catch (error) {
    return error instanceof SkillError;
  }
}
