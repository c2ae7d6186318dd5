import pc from 'picocolors';

type Stream = { readonly isTTY?: boolean | undefined };
type Environment = Readonly<Record<string, string | undefined>>;
type Painting = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';
export type Colors = Pick<ReturnType<typeof pc.createColors>, Painting | 'isColorSupported'>;

/** All that these colours are made of. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: that is what they begin with
export const COLOR_CODES = /(\x1b\[(?:1|2|22|31|32|33|36|39)m)/;

/** Colours for one stream: on a terminal only, unless NO_COLOR or FORCE_COLOR say otherwise. */
export function colorsFor(stream: Stream, env: Environment): Colors {
  return pc.createColors(isColored(stream, env));
}

export const noColors: Colors = pc.createColors(false);

export function isColored(stream: Stream, env: Environment): boolean {
  if (env.NO_COLOR) return false;
  if (env.FORCE_COLOR !== undefined && env.FORCE_COLOR !== '') return env.FORCE_COLOR !== '0';
  return stream.isTTY === true && env.TERM !== 'dumb';
}
