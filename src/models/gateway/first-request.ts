import type { OfferedSkill } from '../../core/contracts/index.ts';
import type { GatewayDialect, Json } from './gateway-dialects.ts';

/** What the model was told before the agent did anything. */
export type FirstRequest = { readonly tools: readonly string[]; readonly offered: readonly OfferedSkill[] };

export type NamedSkill = { readonly name: string; readonly description: string };

export function readFirstRequest(body: Json, dialect: GatewayDialect, skills: readonly NamedSkill[]): FirstRequest {
  const tools = dialect.toolNames(body).filter((name) => name !== undefined);
  const texts = textsIn(body);
  const said = plain(texts.join('\n'));
  return { tools, offered: skills.flatMap((skill) => offerOf(skill, said, texts)) };
}

/** Texts as the model reads them: of system prompts, messages, descriptions of tools and what their arguments may be. */
function textsIn(value: Json): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

function offerOf({ name, description }: NamedSkill, said: string, texts: readonly string[]): OfferedSkill[] {
  const told = descriptionTold(plain(description), said);
  if (told !== 'none') return mentions(name, texts) ? [{ name, description: told }] : [];
  return isListed(name, texts) ? [{ name, description: 'none' }] : [];
}

/** A beginning that is shorter may be another skill's as well. */
const SHORTEST_CUT = 24;

function descriptionTold(description: string, said: string): 'whole' | 'cut' | 'none' {
  if (description !== '' && said.includes(description)) return 'whole';
  const beginning = description.slice(0, SHORTEST_CUT);
  return beginning.length === SHORTEST_CUT && said.includes(beginning) ? 'cut' : 'none';
}

const mentions = (name: string, texts: readonly string[]) =>
  texts.some((text) => new RegExp(`(?<![\\w-])${escaped(name)}(?![\\w-])`).test(text));

/** In the ways in which agents list names, and not in a sentence of a user's: a point, a tag, a path, one of the values of an argument. */
function isListed(name: string, texts: readonly string[]): boolean {
  const known = escaped(name);
  const listing = new RegExp(
    `^\\s*[-*] [\`*"']*${known}[\`*"']*\\s*(?:$|[:(—–-])|<name>\\s*${known}\\s*</name>|/${known}/SKILL\\.md|'${known}'`,
    'm',
  );
  return texts.some((text) => text === name || listing.test(text));
}

const escaped = (name: string) => name.replace(/[^\w-]/g, '\\$&');

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", '#39': "'" };

/** With one space between words, and without the escapes of the tags that some agents put around. */
function plain(text: string): string {
  return text
    .replace(/&(amp|lt|gt|quot|apos|#39);/g, (_, entity: string) => ENTITIES[entity]!)
    .replace(/\s+/g, ' ')
    .trim();
}
