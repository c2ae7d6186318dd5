import { SkillError } from '../../core/contracts/index.ts';
import { suggestion } from '../../core/text/index.ts';
import { envNames } from '../../envs/index.ts';

/** SkillOpt's own environments. Each needs data, games or documents that no package may bring along. */
const BENCHMARKS = ['searchqa', 'spreadsheetbench', 'officeqa', 'docvqa', 'livemathematicianbench', 'alfworld'];

const OWN = 'Write it as a module, an EnvAdapter or a defineEnv(…), and name its path, such as env: ./env.mjs.';
const QA_DATA = 'Its data works with env: qa, which scores as it does: a row has id, question, context and answers.';

/** Why there is no environment of this name, and what to do instead. */
export function unknownEnv(name: string): SkillError {
  if (BENCHMARKS.includes(name)) {
    const hint = name === 'searchqa' ? QA_DATA : OWN;
    return new SkillError('ENV_INVALID', `the benchmark "${name}" does not come with this package`, { hint });
  }
  const names = [...envNames(), 'workspace', 'trigger'];
  return new SkillError('ENV_INVALID', `unknown environment "${name}"${suggestion(name, names)}`, {
    hint: `There are: ${names.join(', ')}. Your own: the path of a module, such as ./env.mjs.`,
  });
}
