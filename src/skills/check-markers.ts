import { MARKERS } from '../core/document/index.ts';
import { type Finding, lineFinder, type Rule } from './finding.ts';

type Marker = { readonly marker: string; readonly line: number };

const STARTS = new Map<string, string>(Object.values(MARKERS).map(({ start, end }) => [end, start]));
const ANY = new RegExp([...STARTS].flat().join('|'), 'g');

/** Blocks that the trainer protects must be closed, and none may begin inside another. */
export function checkMarkers(text: string): Finding[] {
  const findings: Finding[] = [];
  const open: Marker[] = [];
  for (const marker of markersIn(text)) findings.push(...follow(marker, open));
  return [...findings, ...open.map(({ marker, line }) => error(line, 'marker-unpaired', `${marker} is never closed`))];
}

function markersIn(text: string): Marker[] {
  const lineAt = lineFinder(text);
  return [...text.matchAll(ANY)].map(({ 0: marker, index }) => ({ marker, line: lineAt(index) }));
}

/** Takes one more marker into account: `open` holds those that wait for their end, the last one innermost. */
function follow({ marker, line }: Marker, open: Marker[]): Finding[] {
  const start = STARTS.get(marker);
  if (start === undefined) {
    const outer = open.at(-1);
    open.push({ marker, line });
    return outer ? [error(line, 'marker-nested', `${marker} stands inside the block of line ${outer.line}`)] : [];
  }
  const index = open.findLastIndex((candidate) => candidate.marker === start);
  if (index === -1) return [error(line, 'marker-unpaired', `${marker} closes nothing`)];
  open.splice(index, 1);
  return [];
}

const error = (line: number, rule: Rule, message: string): Finding => ({ line, level: 'error', rule, message });
