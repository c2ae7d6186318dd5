import type { SkillEnv } from '../core/contracts/index.ts';
import { skillHash } from '../core/text/index.ts';
import type { SkillFile } from '../skills/index.ts';

/** The same environment with some parts of it replaced. It may be an instance of a class with private fields, so that it is not copied. */
export function overlayEnv(env: SkillEnv, parts: Partial<SkillEnv>): SkillEnv {
  return new Proxy(env, {
    get(target, key) {
      if (Object.hasOwn(parts, key)) return parts[key as keyof SkillEnv];
      const value = Reflect.get(target, key, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

/** The same environment, whose target reads these files behind the skill. They are no part of what is trained. */
export function withSkillFiles(env: SkillEnv, files: readonly SkillFile[]): SkillEnv {
  if (files.length === 0) return env;
  const behind = inlineFiles(files);
  return overlayEnv(env, {
    version: `${env.version ?? ''} skill files ${skillHash(behind)}`.trimStart(),
    surroundings: [env.surroundings, knownFiles(files)].filter(Boolean).join('\n\n'),
    rolloutOne: (context) => env.rolloutOne({ ...context, skill: context.skill + behind }),
    ...(env.rolloutMany
      ? { rolloutMany: (context) => env.rolloutMany!({ ...context, skill: context.skill + behind }) }
      : {}),
  });
}

export const inlineFiles = (files: readonly SkillFile[]) =>
  ['\n\nFiles of this skill:', ...files.map(({ path, text }) => `<file path="${path}">\n${text}\n</file>`)].join(
    '\n\n',
  );

const knownFiles = (files: readonly SkillFile[]) =>
  `The agent reads these files of the skill, too, which no edit can change: ${files.map(({ path }) => path).join(', ')}.`;
