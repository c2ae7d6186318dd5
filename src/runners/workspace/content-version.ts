import { createHash } from 'node:crypto';
import type { SkillPackage } from '../../core/contracts/index.ts';
import { skillHash } from '../../core/text/index.ts';
import { type Trained, untrainedFiles } from './installed-package.ts';

type Surroundings = {
  readonly package?: SkillPackage | undefined;
  readonly neighbours?: readonly SkillPackage[] | undefined;
  /** What an attempt may use up, with the defaults. */
  readonly limits: object;
};

/** What attempts depend on besides the task, the agent and the trained text: in words, so that a mismatch tells which it was. */
export function contentVersion({ package: own, neighbours = [], limits }: Surroundings, trained: Trained): string {
  const beside = own && digestOf({ ...own, files: untrainedFiles(own, trained) });
  const others = neighbours.length === 0 ? undefined : skillHash(neighbours.map(digestOf).sort().join());
  return [
    ...(beside === undefined ? [] : [`files beside the skill ${beside}`]),
    ...(others === undefined ? [] : [`neighbours ${others}`]),
    `limits ${JSON.stringify(Object.fromEntries(Object.entries(limits).sort()))}`,
  ].join(', ');
}

function digestOf({ files, binaries = {} }: SkillPackage): string {
  const hash = createHash('sha256');
  for (const [path, content] of Object.entries({ ...files, ...binaries }).sort(([a], [b]) => (a < b ? -1 : 1))) {
    hash.update(JSON.stringify([path, content.length])).update(content);
  }
  return hash.digest('hex').slice(0, 16);
}
