import { delimiter, isAbsolute } from 'node:path';
import { execa } from 'execa';
import { findBinary, isForeign } from '../../../agents/index.ts';
import { SkillError } from '../../../core/contracts/index.ts';

type Environment = Readonly<Record<string, string | undefined>>;

type Finished = { readonly isOk: boolean; readonly stdout: string; readonly stderr: string };

/** The programs of the system that schedule things. */
export type Programs = {
  find(name: string): string | undefined;
  /** Texts are bytes, one a character: what a crontab holds need not be UTF-8. */
  run(name: string, args: readonly string[], input?: string): Promise<Finished>;
};

export function openPrograms(env: Environment): Programs {
  const find = (name: string) => findBinary(name, env);
  return {
    find,
    async run(name, args, input = '') {
      const file = find(name);
      if (file === undefined) throw notHere(name);
      const result = await execa(file, args, { ...FIXED, input: Buffer.from(input, 'latin1'), env: asked(env) });
      const text = (bytes: Uint8Array | undefined) => Buffer.from(bytes ?? []).toString('latin1');
      const stderr = text(result.stderr).trim() || (result.shortMessage ?? '');
      return { isOk: !result.failed, stdout: text(result.stdout), stderr };
    },
  };
}

const FIXED = {
  extendEnv: false,
  reject: false,
  encoding: 'buffer',
  stripFinalNewline: false,
  timeout: 60_000,
} as const;

/** In English: some of what they say is understood. */
const asked = (env: Environment) => ({ ...env, LC_ALL: 'C', LANGUAGE: '' });

const notHere = (name: string) =>
  new SkillError('ENV_FAILED', `there is no program ${name} here`, {
    hint: 'Install it, or choose another way with --with; --print shows what would be installed.',
  });

/**
 * The variables with a search path on which nothing lies that a project brings along: no relative entry, no folder of the
 * project, no `node_modules/.bin`. A program from there would run every night with the person's sign-in.
 */
export function trusted(env: Environment, project: string): Environment {
  const folders = (env.PATH ?? env.Path ?? '')
    .split(delimiter)
    .filter((folder) => isAbsolute(folder) && !isForeign(folder, [project]));
  return { ...env, PATH: folders.join(delimiter) };
}
