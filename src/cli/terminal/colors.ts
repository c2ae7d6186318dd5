import pc from 'picocolors';
import type { Io, Output } from './io.ts';

export type Colors = ReturnType<typeof pc.createColors>;

/** Colours for one stream: on a terminal only, unless NO_COLOR or FORCE_COLOR say otherwise. */
export function colorsFor(stream: Output, env: Io['env']): Colors {
  return pc.createColors(isColored(stream, env));
}

export const noColors: Colors = pc.createColors(false);

function isColored(stream: Output, env: Io['env']): boolean {
  if (env.NO_COLOR) return false;
  if (env.FORCE_COLOR !== undefined && env.FORCE_COLOR !== '') return env.FORCE_COLOR !== '0';
  return stream.isTTY === true && env.TERM !== 'dumb';
}
