import { head } from '../../core/text/index.ts';
import { NotCarried } from '../left-out.ts';

export type Vars = Readonly<Record<string, unknown>>;

const PATH = /^[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*|\[\d+\]|\[(?:'[^']*'|"[^"]*")\])*$/;
const FILTERS: Readonly<Record<string, (text: string) => string>> = {
  upper: (text) => text.toUpperCase(),
  lower: (text) => text.toLowerCase(),
  trim: (text) => text.trim(),
};

/** Variables may hold variables, and one may hold itself. */
const MAX_ROUNDS = 5;

/** A text with `{{ variables }}` filled in; one that is not there is nothing. Throws `NotCarried` for the rest of the language. */
export function render(text: string, vars: Vars): string {
  let rendered = text;
  for (let round = 0; round < MAX_ROUNDS && rendered.includes('{{'); round++) rendered = renderOnce(rendered, vars);
  if (/\{[%#]/.test(text)) throw new NotCarried('its template has tags, which are not carried');
  return rendered;
}

/** More than any prompt. */
const MAX_LENGTH = 1_000_000;

function renderOnce(text: string, vars: Vars): string {
  const pieces: string[] = [];
  let [done, length] = [0, 0];
  for (let open = text.indexOf('{{'); open !== -1; open = text.indexOf('{{', done)) {
    const close = text.indexOf('}}', open + 2);
    if (close === -1) break;
    const value = evaluate(text.slice(open + 2, close).replace(/^-|-$/g, ''), vars);
    length += value.length;
    if (length > MAX_LENGTH) throw new NotCarried(`its template becomes longer than ${MAX_LENGTH} characters`);
    pieces.push(text.slice(done, open), value);
    done = close + 2;
  }
  return pieces.join('') + text.slice(done);
}

function evaluate(expression: string, vars: Vars): string {
  const [path, ...filters] = expression.split('|').map((part) => part.trim());
  if (!PATH.test(path!)) throw new NotCarried(`its template {{${head(expression, 100)}}} is more than a variable`);
  if (/^(?:env|process)\b/.test(path!) && !(path! in vars)) {
    throw new NotCarried('the value depends on the environment of the person who runs it');
  }
  return filters.reduce((value, filter) => applyFilter(filter, value), toText(lookUp(path!, vars)));
}

function applyFilter(filter: string, value: string): string {
  const apply = Object.hasOwn(FILTERS, filter) ? FILTERS[filter] : undefined;
  if (!apply) throw new NotCarried(`the filter ${filter} of its template is not carried`);
  return apply(value);
}

function lookUp(path: string, vars: Vars): unknown {
  const keys = Array.from(path.matchAll(/[A-Za-z_$][\w$]*|\[(\d+)\]|\['([^']*)'\]|\["([^"]*)"\]/g), (found) => {
    return found[1] ?? found[2] ?? found[3] ?? found[0];
  });
  return keys.reduce<unknown>((value, key) => {
    const isOwn = typeof value === 'object' && value !== null && Object.hasOwn(value, key);
    return isOwn ? (value as Record<string, unknown>)[key] : undefined;
  }, vars);
}

function toText(value: unknown): string {
  if (value == null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** A value with every text in it rendered. */
export function renderDeep(value: unknown, vars: Vars): unknown {
  if (typeof value === 'string') return render(value, vars);
  if (Array.isArray(value)) return value.map((inner) => renderDeep(inner, vars));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, renderDeep(inner, vars)]));
}
