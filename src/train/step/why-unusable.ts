import { SKILL_FILE, splitPackage, trainsMore, trainsPackage } from '../../core/document/index.ts';
import { lintSkill, skillHeader } from '../../skills/index.ts';
import type { Run } from '../run.ts';

const MOST_FILE_BYTES = 256_000;
const MOST_BYTES = 2_000_000;

type Checked = Pick<Run, 'config' | 'env'>;

/**
 * Says why a candidate is no skill that an agent could use, though the one that it would replace is. What that has wrong already
 * is not held against it.
 */
export function unusableBeside(parent: string, { config, env }: Checked) {
  return async (candidate: string): Promise<string | undefined> => {
    if (candidate === parent) return undefined;
    const known = new Set(faultsOf(parent, config));
    const [fault] = faultsOf(candidate, config).filter((one) => !known.has(one));
    return fault ?? (await env.checkSkill?.(candidate, parent));
  };
}

/** Steps that train one body cannot break what is looked at here. */
function faultsOf(skill: string, config: Checked['config']): string[] {
  if (!trainsMore(config)) return [];
  const files = trainsPackage(config) ? splitPackage(skill) : { [SKILL_FILE]: skill };
  return [...sizeFaults(files), ...headerFaults(files[SKILL_FILE] ?? '')];
}

function sizeFaults(files: Readonly<Record<string, string>>): string[] {
  const sizes = Object.entries(files).map(([path, text]) => [path, Buffer.byteLength(text)] as const);
  const whole = sizes.reduce((sum, [, size]) => sum + size, 0);
  const tooLong = sizes.filter(([, size]) => size > MOST_FILE_BYTES);
  return [
    ...tooLong.map(([path]) => `${path} is longer than ${MOST_FILE_BYTES / 1000} kB`),
    ...(whole > MOST_BYTES ? [`the package is longer than ${MOST_BYTES / 1e6} MB`] : []),
  ];
}

function headerFaults(text: string): string[] {
  const errors = lintSkill({ folderName: undefined, text }).filter(({ level }) => level === 'error');
  const { description = '' } = skillHeader(text);
  return [
    ...errors.map(({ message }) => `${SKILL_FILE}: ${message}`),
    ...(/[<>]/.test(description) ? [`${SKILL_FILE}: description: expected neither < nor >`] : []),
  ];
}
