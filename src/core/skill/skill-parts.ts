import { SKILL_FILE } from './package-text.ts';

/** What of a skill may be trained. */
export const SKILL_PARTS = ['body', 'description', 'references', 'scripts'] as const;
export type SkillPart = (typeof SKILL_PARTS)[number];

const DEFAULT_PARTS: readonly SkillPart[] = ['body'];

/** What edits may change. Without a policy the text is one document, and they change its body. */
export type EditPolicy = {
  /** Whether the text is that of a package: `joinPackage`. */
  readonly isPackage: boolean;
  readonly parts: readonly SkillPart[];
};

export type Trained = { readonly parts?: readonly SkillPart[] | undefined };

/** Whether more than one file is trained. */
export const trainsPackage = ({ parts = DEFAULT_PARTS }: Trained) =>
  parts.includes('references') || parts.includes('scripts');

/** Whether anything but the body of one document is trained. */
export const trainsMore = ({ parts = DEFAULT_PARTS }: Trained) => parts.some((part) => part !== 'body');

/**
 * What the edits of a step may change. The description is trained in turns with the rest, at even steps: the rest cannot change
 * whether a skill is loaded, but a skill that is loaded at other times scores otherwise.
 */
export function policyOf(trained: Trained, step: number): EditPolicy | undefined {
  if (!trainsMore(trained)) return undefined;
  const { parts = DEFAULT_PARTS } = trained;
  const others = parts.filter((part) => part !== 'description');
  const isTurn = parts.includes('description') && (others.length === 0 || step % 2 === 0);
  return { isPackage: trainsPackage(trained), parts: isTurn ? ['description'] : others };
}

/** The part that a file belongs to. What lies under assets/ is installed, and never trained. */
export function partOf(path: string): SkillPart | 'assets' {
  if (path === SKILL_FILE) return 'body';
  if (path.startsWith('scripts/')) return 'scripts';
  return path.startsWith('assets/') ? 'assets' : 'references';
}

/** Files of a package whose text is trained. SKILL.md always is: the others are found through it. */
export function trainedFiles(files: Readonly<Record<string, string>>, { parts = DEFAULT_PARTS }: Trained) {
  const isTrained = (path: string) =>
    path === SKILL_FILE || ((parts as readonly string[]).includes(partOf(path)) && !path.includes('\n'));
  return Object.fromEntries(Object.entries(files).filter(([path]) => isTrained(path)));
}

/** One name of a path that every system takes for itself. */
const PLAIN_NAME = /^[A-Za-z0-9_](?:[A-Za-z0-9_.-]{0,98}[A-Za-z0-9_])?$/;
const RESERVED = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;

/** Whether a new file may be called so: a plain path in references/ or scripts/, or a Markdown file beside SKILL.md. */
export function isNewPath(path: string): boolean {
  const names = path.split('/');
  const isPlain = names.every((name) => PLAIN_NAME.test(name) && !RESERVED.test(name));
  const isPlace = names.length === 1 ? path.endsWith('.md') : ['references', 'scripts'].includes(names[0]!);
  return isPlain && isPlace && names.length <= 4;
}

/** Whether a new file would stand where another does, to systems that do not tell capitals apart, or below one. */
export function isTaken(path: string, others: readonly string[]): boolean {
  const wanted = path.toLowerCase();
  return others.some((one) => {
    const known = one.toLowerCase();
    return known === wanted || known.startsWith(`${wanted}/`) || wanted.startsWith(`${known}/`);
  });
}

type Costly = { readonly file?: string | undefined };

/** What runs weighs more than what is read. */
const SCRIPT_COST = 3;
const costOf = ({ file = SKILL_FILE }: Costly) => (partOf(file) === 'scripts' ? SCRIPT_COST : 1);

/** The first edits that the budget pays for. One alone always fits. */
export function withinBudget<E extends Costly>(edits: readonly E[], budget: number): E[] {
  let left = budget;
  return edits.filter((edit) => {
    const isPaid = costOf(edit) <= left || (left === budget && budget > 0);
    if (isPaid) left -= costOf(edit);
    return isPaid;
  });
}
