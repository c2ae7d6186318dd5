import {
  type EditPolicy,
  isSaidIn,
  newLinesOf,
  type Patch,
  partOf,
  SKILL_FILE,
  splitPackage,
  type UpdateItem,
} from '../../core/document/index.ts';

type Repeated = Pick<UpdateItem, 'op' | 'target' | 'content'>;
type News = { readonly patch: Patch; readonly repeats?: readonly Repeated[] };

/** The patch without what adds nothing to what the file that it is for, or an edit of it before, says already. */
export function withoutRepeats(patch: Patch, skill: string, policy?: EditPolicy): News {
  const repeats: Repeated[] = [];
  const files = policy?.isPackage ? splitPackage(skill) : { [SKILL_FILE]: skill };
  const said = new Map(Object.entries(files));
  const edits = patch.edits.flatMap((edit) => {
    const { op, target, content, file = SKILL_FILE } = edit;
    const isProse = op === 'append' || op === 'insert_after' || op === 'replace';
    if (!isProse || partOf(file) === 'scripts') return [edit]; // code may well repeat itself
    const whole = said.get(file) ?? '';
    const rest = op === 'replace' && target !== '' ? whole.replace(target, () => '') : whole;
    if (isSaidIn(rest, content)) {
      repeats.push({ op, target, content });
      return [];
    }
    const news = op === 'replace' ? content : newLinesOf(rest, content);
    said.set(file, `${whole}\n\n${news}`);
    return [{ ...edit, content: news }];
  });
  return { patch: { ...patch, edits }, ...(repeats.length > 0 ? { repeats } : {}) };
}
