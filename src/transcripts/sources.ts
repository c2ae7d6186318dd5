import { existsSync } from 'node:fs';
import { SkillError } from '../core/contracts/index.ts';
import { closestName } from '../core/text/index.ts';
import { claude } from './sources/claude.ts';
import { codex } from './sources/codex.ts';
import { copilot } from './sources/copilot.ts';
import { copilotCli } from './sources/copilot-cli.ts';
import { cursor } from './sources/cursor.ts';
import { devin } from './sources/devin.ts';
import { gemini, qwen } from './sources/gemini.ts';
import { opencode } from './sources/opencode.ts';
import { pi } from './sources/pi.ts';
import type { Place, TranscriptSource } from './transcript-source.ts';

/** In the order in which they are shown. */
export const transcriptSources: readonly TranscriptSource[] = [
  claude,
  codex,
  gemini,
  qwen,
  opencode,
  copilot,
  copilotCli,
  cursor,
  pi,
  devin,
];

const AUTO = 'auto';

/** The sources of a setting: one name, several, or `auto`. */
export async function chooseSources(names: readonly string[], place: Place): Promise<readonly TranscriptSource[]> {
  const wanted = names.filter((name) => name !== AUTO).map(findSource);
  if (wanted.length === names.length) return [...new Set(wanted)];
  const found = await foundSources(place);
  return transcriptSources.filter((source) => found.includes(source) || wanted.includes(source));
}

export async function foundSources(place: Place): Promise<readonly TranscriptSource[]> {
  return transcriptSources.filter((source) => source.roots(place).some((path) => existsSync(path)));
}

/** The source of this name; `_` may stand for `-`. */
export function findSource(name: string): TranscriptSource {
  const plain = name.trim().toLowerCase().replaceAll('_', '-');
  const found = transcriptSources.find((source) => source.name === plain);
  if (found !== undefined) return found;
  const names = [...transcriptSources.map((source) => source.name), AUTO];
  const message = `source must be one of ${names.join(', ')}, got ${JSON.stringify(name)}`;
  const closest = closestName(plain, names);
  throw new SkillError('CONFIG_INVALID', message, closest === undefined ? {} : { hint: `Did you mean ${closest}?` });
}
