import { skillHash } from 'skillopt';
import type { FakeAnswer } from 'skillopt/testing';
import type { Disturbance } from './sim-over-http.ts';

const html = { 'content-type': 'text/html' };

/** What goes wrong between a provider and its clients on bad days. */
const BREAKAGES: Readonly<Record<string, FakeAnswer>> = {
  'too many': { status: 429, content: 'slow down' },
  'too many, with Retry-After': { status: 429, content: 'slow down', headers: { 'retry-after': '0.05' } },
  'status 500': { status: 500, content: 'internal error' },
  'status 502': { status: 502, headers: html, body: '<html><title>502 Bad Gateway</title></html>' },
  'status 503': { status: 503, content: 'overloaded' },
  reset: { destroy: true },
  'no answer': { delayMs: 60_000 },
  'torn body': { content: 'The record tells us.', tornAt: 60 },
  'empty body': { body: '' },
  'empty text': { content: '' },
  'HTML with status 200': { headers: html, body: '<html><title>Be right back</title></html>' },
  'malformed JSON': { body: '{"choices": [{"message": {"content": "The rec' },
};

/** The share of calls that break, and by which seed they are chosen. */
export type BrokenCallsOptions = { readonly seed: number; readonly share?: number };

/** Breaks calls at random: by seed, request and try, so that the order in which calls arrive changes nothing. */
export function breakCalls({ seed, share = 0.2 }: BrokenCallsOptions) {
  const tries = new Map<string, number>();
  const broken = Object.fromEntries(Object.keys(BREAKAGES).map((kind) => [kind, 0]));
  let calls = 0;
  const disturbance: Disturbance = ({ model, messages }) => {
    calls++;
    const request = skillHash(JSON.stringify([model, messages]));
    const attempt = (tries.get(request) ?? 0) + 1;
    tries.set(request, attempt);
    const draw = (what: string) => Number.parseInt(skillHash(`${seed} ${what} ${attempt} ${request}`).slice(0, 8), 16);
    if (draw('break') / 2 ** 32 >= share) return undefined;
    const kinds = Object.keys(BREAKAGES);
    const kind = kinds[draw('kind') % kinds.length]!;
    broken[kind]! += 1;
    return BREAKAGES[kind];
  };
  return { disturbance, counts: () => ({ calls, broken }) };
}
