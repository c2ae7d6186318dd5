import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isObject, parseJson } from '../../core/text/index.ts';
import { isCutOff } from '../../skills/index.ts';
import { ADOPTIONS_FOLDER } from '../../stores/index.ts';
import { HANDOFF_FOLDER, isProjectOf, projectFolder, STATE_FILE } from './folders.ts';

type Waiting = { readonly proposals: number; readonly hasQuestions: boolean; readonly isCutOff: boolean };

/**
 * What waits for a person in a project. A shell prompt asks at every line, so nothing is checked that is not needed, and what
 * cannot be read counts as nothing: the whole status reports it.
 */
export function readWaiting(stateFolder: string, project: string): Waiting {
  const isOf = isProjectOf(project);
  const { proposals } = readObject(join(stateFolder, STATE_FILE));
  const pending = (Array.isArray(proposals) ? proposals : []).filter(
    (one) => isObject(one) && one.status === 'pending' && isOf(String(one.project)),
  );
  const isCut = isCutOff(join(stateFolder, ADOPTIONS_FOLDER));
  return {
    proposals: pending.length,
    hasQuestions: hasQuestions(projectFolder(stateFolder, project)),
    isCutOff: isCut,
  };
}

function hasQuestions(nights: string): boolean {
  const last = Math.max(
    ...namesIn(nights)
      .filter((name) => /^[1-9]\d{0,8}$/.test(name))
      .map(Number),
  );
  const night = join(nights, String(last));
  return existsSync(join(night, HANDOFF_FOLDER)) && readObject(join(night, 'night.json')).status === 'running';
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function readObject(path: string): Readonly<Record<string, unknown>> {
  try {
    const value = parseJson(readFileSync(path, 'utf8'));
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}
